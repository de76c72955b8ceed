/**
 * Machines as a snapshot finds them.
 * @module
 */
import {
  type Machine,
  type MachineOwner,
  type MachinesView,
  toMachineName,
} from "../../../lib/cloud/capabilities/machines.ts";
import type { KnownMachine } from "../../../lib/controllers/vino/placement/known.ts";
import { toHostName } from "../../../lib/controllers/vino/hosts/names.ts";
import type {
  MachineEntry,
  VinoMachine,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { FINALIZER } from "../../../lib/controllers/vino/words.ts";
import { POOL, toDoubleHost } from "./machines_double.ts";

/** The owner of all machines. */
export const VINO_OWNER: MachineOwner = {
  namespace: "metal",
  name: "edge",
  uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
};

/** A complete machine in the cloud. */
export function toMachine(role: string, index: number, change: Partial<Machine> = {}): Machine {
  const name = toMachineName({ owner: VINO_OWNER, role, index });
  const place = { poolId: POOL.id, hostId: "h1", firstHostId: "h1" };
  return {
    name,
    id: `vm-${role}-${index}`,
    isComplete: true,
    power: "running",
    firmware: "uefi",
    ...place,
    ...change,
  };
}

/** A known machine that the cloud shows on a host. */
export function toKnown(
  role: string,
  index: number,
  hostId: string | undefined = "h1",
  change: Partial<KnownMachine> = {},
): KnownMachine {
  const place = hostId === undefined ? {} : { hostId };
  return {
    name: toMachineName({ owner: VINO_OWNER, role, index }),
    role,
    index,
    machine: toMachine(role, index, hostId === undefined ? {} : { hostId, firstHostId: hostId }),
    isConsumed: false,
    isRemoving: false,
    ...place,
    ...change,
  };
}

/** What the object of a machine says. */
export function toEntry(
  role: string,
  index: number,
  change: Partial<MachineEntry> = {},
): MachineEntry {
  const name = toMachineName({ owner: VINO_OWNER, role, index });
  return { name, role, index, state: "Ready", ...change };
}

/** The object of a machine that says this. */
export function toObject(
  { name: machineName, role, index, host, hostDisplayName, ...status }: MachineEntry,
  { namespace, name: vinoName, uid: vinoUid }: MachineOwner = VINO_OWNER,
): VinoMachine {
  const name = toHostName({ vino: vinoName, role, index });
  const place = { ...(host && { host }), ...(hostDisplayName && { hostDisplayName }) };
  return {
    metadata: { namespace, name, uid: `uid-${name}`, finalizers: [FINALIZER] },
    spec: { vinoName, vinoUid, machineName, role, index, ...place },
    status,
  };
}

/** A view of these machines. */
export function toView(
  machines: readonly Machine[],
  change: Partial<MachinesView> = {},
): MachinesView {
  return {
    observedAtMs: 0,
    isForChange: false,
    pools: [POOL],
    hosts: ["h1", "h2", "h3"].map((id) => toDoubleHost(id)),
    machines: Map.groupBy(machines, ({ name }) => name),
    ...change,
  };
}

/** No machine is worked on. */
export const AT_REST = { isWorking: (): boolean => false };
