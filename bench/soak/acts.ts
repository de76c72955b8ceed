/**
 * Single events in a cluster's life over weeks, for the soak.
 * @module
 */
import type { DemoMachine } from "../../lib/simulator/demo_machine.ts";
import { isInitialised, isNamed, type XenOrchestraStage } from "../stage.ts";

/** The result of an act. */
export interface ActResult {
  /** The object of the act, or `""`. */
  readonly about: string;
}

type Act = (stage: XenOrchestraStage, pick: number) => string;

const POOL_GONE_MS_MAX = 60_000;
const HALT_MS_MAX = 20_000;
const RETRY_MS = 5_000;

/** Acts by name: they change the world and return their object. */
const ACTS: Readonly<Record<ActName, Act>> = {
  move: (stage, pick) => withMachine(stage, pick, (machine) => stage.moveLive(machine)),
  moveAcrossPools: (stage, pick) =>
    withMachine(stage, pick, ({ vmId }) => {
      const { state } = stage.cloud;
      const here = state.read("vms", vmId)?.["$pool"];
      const there = state.list("pools").find(({ id }) => id !== here);
      if (there !== undefined) state.migratePool(vmId, there.id, { gapMs: pick * 5_000 });
    }),
  join: (stage, pick) => join(stage, pick),
  leave: (stage, pick) =>
    withMachine(stage, pick, (machine) => {
      stage.machines.splice(stage.machines.indexOf(machine), 1);
      stage.remove(machine);
      stage.setReady(machine.nodeName, "Unknown");
    }),
  halt: (stage, pick) =>
    withMachine(stage, pick, (machine) => {
      const { state } = stage.cloud;
      const vm = state.read("vms", machine.vmId);
      if (vm?.["power_state"] !== "Running") return;
      const host = String(vm["$container"]);
      stage.halt(machine);
      stage.setReady(machine.nodeName, "Unknown");
      const start = (): void => {
        if (!stage.machines.includes(machine)) return;
        // Its pool may be lost now.
        if (!state.read("vms", machine.vmId)) return void setTimeout(start, RETRY_MS);
        state.setPower(machine.vmId, "Running", host);
        stage.setReady(machine.nodeName, "True");
      };
      setTimeout(start, 5_000 + pick * HALT_MS_MAX);
    }),
  editLabel: (stage, pick) =>
    withMachine(stage, pick, ({ nodeName }) => {
      const labels = { "topology.kubernetes.io/zone": "elsewhere" };
      if (stage.kubernetes.objects.getNode(nodeName)) {
        stage.kubernetes.objects.patchNode(nodeName, { metadata: { labels } });
      }
    }),
  dropPool: (stage, pick) => {
    const pools = stage.cloud.state.list("pools");
    const pool = pools[Math.floor(pick * pools.length)];
    if (pool === undefined) return "";
    stage.cloud.state.dropPool(pool.id, 1_000 + pick * POOL_GONE_MS_MAX);
    return pool.id;
  },
  restartCloud: (stage, pick) => {
    void stage.cloud.restart({ loadedAfterMs: 1_000 + pick * 10_000 });
    return "";
  },
  failCloud: (stage, pick) => {
    const faults = [
      { kind: "status", status: 500 },
      { kind: "html", status: 502 },
      { kind: "halfBody" },
      { kind: "reset" },
      { kind: "hang" },
    ] as const;
    const fault = faults[Math.floor(pick * faults.length)] ?? faults[0];
    stage.cloud.faults.set(fault, { times: 3 });
    return fault.kind;
  },
  dropWatches: ({ kubernetes }) => {
    kubernetes.dropWatches();
    return "";
  },
  expireWatches: ({ kubernetes }) => {
    kubernetes.expireWatches();
    return "";
  },
  /** Revokes every token but the newest, and adds a new one. Returns the new token. */
  renewToken: ({ cloud }, pick) => {
    const [first, ...old] = [...cloud.auth.tokens.values()].toReversed();
    for (const { id } of old) cloud.auth.revoke(id);
    const token = `token-${pick}-${first?.id.length}`.padEnd(43, "x");
    cloud.auth.addToken(token, ADMIN, 365 * 86_400_000);
    return token;
  },
  /** Changes nothing: returns the names of machines whose Nodes are not as they should be. */
  findWrong: (stage) => {
    const { objects } = stage.kubernetes;
    const wrong = stage.machines.filter((machine) => {
      const node = objects.getNode(machine.nodeName);
      return node === undefined || !isInitialised(node) || !stage.isPlaced(machine);
    });
    const known = new Set(stage.machines.map(({ nodeName }) => nodeName));
    // A Node stays if its machine left before it had a provider ID: nothing proves that it has no machine.
    const left = objects
      .list("nodes")
      .filter((node) => !known.has(`${node.metadata.name}`) && isNamed(node));
    return [
      ...wrong.map(({ nodeName }) => nodeName),
      ...left.map(({ metadata }) => `${metadata.name} (gone)`),
    ].join(" ");
  },
};

/** Name of an act, or of a check. */
export type ActName =
  | "move"
  | "moveAcrossPools"
  | "join"
  | "leave"
  | "halt"
  | "editLabel"
  | "dropPool"
  | "restartCloud"
  | "failCloud"
  | "dropWatches"
  | "expireWatches"
  | "renewToken"
  | "findWrong";

/** The owner of the tokens. */
export const ADMIN: { readonly id: string; readonly username: string; readonly password: string } =
  {
    id: "3b0c2f2e-7d51-5c61-9a53-5f0d7f0c2b11",
    username: "admin@admin.net",
    password: "admin",
  };

/** Runs one act. @param pick From 0 up to 1 */
export function act(stage: XenOrchestraStage, name: ActName, pick: number): ActResult {
  return { about: ACTS[name](stage, pick) };
}

function withMachine(
  stage: XenOrchestraStage,
  pick: number,
  change: (machine: DemoMachine) => void,
): string {
  const machine = stage.machines[Math.floor(pick * stage.machines.length)];
  // The machines of a lost pool cannot be changed.
  if (machine === undefined || !stage.cloud.state.read("vms", machine.vmId)) return "";
  change(machine);
  return machine.nodeName;
}

/** Creates a machine whose kubelet registers. Names are never used again. */
function join(stage: XenOrchestraStage, pick: number): string {
  const { state } = stage.cloud;
  const hosts = state.list("hosts");
  const host = hosts[Math.floor(pick * hosts.length)];
  if (host === undefined) return "";
  const nodeName = `soak-${Math.floor(pick * 1e9)}`;
  const octets = [1, 250, 62_500].map((unit) => Math.floor((pick * 1e9) / unit) % 250);
  const address = `10.${octets.join(".")}`;
  const vmId = state.addVm({
    name: nodeName,
    poolId: String(host["$pool"]),
    hostId: host.id,
    addresses: { "0/ipv4/0": address },
  });
  const machine = { nodeName, vmId, systemUuid: vmId, address };
  stage.machines.push(machine);
  stage.register(machine);
  return nodeName;
}
