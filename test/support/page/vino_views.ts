/**
 * Vinos and a cloud as the pages show them: one Vino that is well, one with a machine in each other state.
 * @module
 */
import type {
  CloudMachineView,
  CloudView,
  VinoMachineView,
  VinoSource,
  VinoView,
} from "../../../lib/http/vinos/views.ts";

const PARTS = [
  { name: "CPUs", wanted: "4", actual: "4" },
  { name: "memory", wanted: "8 GiB", actual: "8 GiB" },
] as const;

/** Name of a machine of a Vino in the cloud. */
export function toName(vino: string, index: number): string {
  return `vino-${vino}-worker-${index}`;
}

/** A machine on host h1 of which nothing exists yet, unless the fields say otherwise. */
export function toAbsent(
  vino: string,
  index: number,
  fields: Partial<VinoMachineView> = {},
): VinoMachineView {
  return {
    name: toName(vino, index),
    role: "worker",
    index,
    state: "Absent",
    isWanted: true,
    host: "id-h1",
    parts: [],
    ...fields,
  };
}

/** A machine on host h1 that is ready, unless the fields say otherwise. */
export function toVinoMachine(
  vino: string,
  index: number,
  fields: Partial<VinoMachineView> = {},
): VinoMachineView {
  return {
    ...toAbsent(vino, index),
    state: "Ready",
    machineId: `id-${vino}-${index}`,
    address: `192.0.2.${10 + index}`,
    parts: PARTS,
    bareMetalHost: "Published",
    hostName: `${vino}-worker-${index}`,
    provisioning: "available",
    ...fields,
  };
}

/** A Vino that is ready, unless the fields say otherwise. */
export function toVino(name: string, fields: Partial<VinoView> = {}): VinoView {
  return {
    namespace: "tenants",
    name,
    state: "ready",
    wanted: 2,
    ready: 2,
    machines: [toVinoMachine(name, 0), toVinoMachine(name, 1)],
    conditions: [{ type: "Ready", status: "True", reason: "ReconciliationSucceeded", message: "" }],
    lastReconcile: { at: "2026-01-02T03:04:05Z", outcome: "ok" },
    ...fields,
  };
}

/** A Vino that is well; something uses its first machine. */
export const WELL: VinoView = toVino("well", {
  machines: [
    toVinoMachine("well", 0, {
      provisioning: "provisioned",
      consumer: "Metal3Machine tenants/blue-1",
      cluster: "blue",
    }),
    toVinoMachine("well", 1, { host: "id-h2" }),
  ],
});

/** A Vino with a machine in each state. */
export const MIXED: VinoView = toVino("mixed", {
  state: "failing",
  wanted: 9,
  ready: 2,
  machines: [
    toVinoMachine("mixed", 0, { state: "Blocked", message: "2 VMs have its name: remove one" }),
    toAbsent("mixed", 1, { state: "Unknown", message: "pool paris is lost" }),
    toAbsent("mixed", 2, { message: "no address is free" }),
    toVinoMachine("mixed", 3, {
      parts: [{ name: "CPUs", wanted: "4", actual: "2" }, ...PARTS.slice(1)],
      message: "CPUs change when it is off",
    }),
    toVinoMachine("mixed", 4, { state: "Removing", isWanted: false }),
    toAbsent("mixed", 5, { state: "Creating" }),
    toVinoMachine("mixed", 6),
    toVinoMachine("mixed", 7, { isWanted: false, message: "it is used by Metal3Machine b" }),
  ],
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "MachineFailure",
      message: "vino-mixed-worker-0: 2 VMs have its name",
    },
  ],
});

/** A machine that runs on h1, unless the fields say otherwise. */
export function toShown(name: string, fields: Partial<CloudMachineView> = {}): CloudMachineView {
  return {
    name,
    id: `id-of-${name}`,
    poolId: "id-paris",
    hostId: "id-h1",
    power: "running",
    isComplete: true,
    ...fields,
  };
}

/** Two pools: paris with two hosts that are used and one that is disabled, and lyon, which is lost. */
export const CLOUD: CloudView = {
  pools: [
    { id: "id-paris", name: "paris", isComplete: true },
    { id: "id-lyon", name: "lyon", isComplete: false },
  ],
  hosts: [
    ...["h2", "h1", "h3"].map((name) => ({
      id: `id-${name}`,
      name,
      poolId: "id-paris",
      isEnabled: name !== "h3",
    })),
    { id: "id-l1", name: "l1", poolId: "id-lyon", isEnabled: true },
  ],
  machines: [
    toShown(toName("well", 0), { vino: "tenants/well" }),
    toShown(toName("well", 1), { vino: "tenants/well", hostId: "id-h2" }),
    toShown(toName("mixed", 0), { vino: "tenants/mixed" }),
    toShown(toName("mixed", 0), { vino: "tenants/mixed", id: "twin", hostId: "id-h2" }),
    toShown(toName("mixed", 3), { vino: "tenants/mixed" }),
    toShown(toName("mixed", 6), { vino: "tenants/mixed", hostId: "id-h2", power: "stopped" }),
    toShown("vino-0ld-worker-0", { hostId: "id-h2" }),
  ],
};

/** A source of both Vinos and the cloud. */
export function toVinoSource(
  vinos: readonly VinoView[] = [MIXED, WELL],
  cloud: CloudView | undefined = CLOUD,
): VinoSource {
  return {
    readServing: () => ({ missing: [] }),
    list: () => vinos,
    find: (key) => vinos.find(({ namespace, name }) => `${namespace}/${name}` === key),
    readCloud: () => Promise.resolve(cloud),
    listPools: () => [{ pool: "ippool-192-0-2-0-24", family: "IPv4", used: 8, total: 100 }],
  };
}
