/**
 * The machines that a Vino has or may have: those that the cloud shows, and those that have an object.
 * @module
 */
import {
  type Machine,
  type MachineOwner,
  type MachinesView,
  parseMachineName,
  toMachineName,
  toOwnerPrefix,
} from "../../../cloud/capabilities/machines.ts";
import type { Sighting } from "../machines/steps/sightings.ts";
import type { MachineEntry } from "../resource/vino_machine.ts";

/** A machine that exists, or may exist. */
export interface KnownMachine {
  /** In the cloud. */
  readonly name: string;
  readonly role: string;
  readonly index: number;
  /** What the cloud shows; the first one of twins. Absent: it shows none. */
  readonly machine?: Machine;
  /** What its object says. */
  readonly entry?: MachineEntry;
  /** ID of the host where it starts. Absent: not known. */
  readonly hostId?: string;
  /** Whether an object uses its BareMetalHost. */
  readonly isConsumed: boolean;
  /** Whether its removal has begun: then it is no machine to keep any more. */
  readonly isRemoving: boolean;
}

/** Where {@linkcode listKnown} looks. */
export interface KnownSources {
  readonly owner: MachineOwner;
  readonly view: MachinesView;
  /** What looks showed of machines after the view, by name. @default {none} */
  readonly seen?: ReadonlyMap<string, Sighting>;
  /** What the objects of its machines say. */
  readonly entries: readonly MachineEntry[];
  /** Whether an object uses the BareMetalHost of a machine. */
  readonly isConsumed: (machine: Pick<KnownMachine, "index" | "role">) => boolean;
  /** Whether the Vino wants machines deleted. If not, no removal goes on. */
  readonly deletes: boolean;
}

const NOTHING_SEEN: ReadonlyMap<string, Sighting> = new Map();

/**
 * Lists the machines of a Vino, by role and index. One that has an object and was never begun is none of them: another
 * place may be better by now.
 */
export function listKnown(sources: KnownSources): KnownMachine[] {
  const { owner, view, seen = NOTHING_SEEN, entries, isConsumed, deletes } = sources;
  const prefix = toOwnerPrefix(owner);
  const known = new Map<string, KnownMachine>();
  const shown = new Map([...view.machines].map(([name, [first]]) => [name, first] as const));
  for (const [name, { machine }] of seen) shown.set(name, machine);
  for (const [name, machine] of shown) {
    const parsed = parseMachineName(name);
    if (parsed === undefined || parsed.ownerPrefix !== prefix) continue;
    const { role, index } = parsed;
    if (machine === undefined) continue;
    const hostId = machine.firstHostId ?? machine.hostId;
    const base = {
      name,
      role,
      index,
      machine,
      isConsumed: isConsumed({ role, index }),
      isRemoving: false,
    };
    known.set(name, { ...base, ...(hostId !== undefined && { hostId }) });
  }
  for (const entry of entries) {
    const { role, index } = entry;
    const name = toMachineName({ owner, role, index });
    const before = known.get(name);
    const isGone = seen.get(name)?.isGone === true;
    if (isGone || (before === undefined && !isBegun(entry))) continue;
    const hostId = before?.machine?.firstHostId ?? entry.host ?? before?.hostId;
    known.set(name, {
      ...(before ?? { name, role, index, isConsumed: isConsumed({ role, index }) }),
      entry,
      ...(hostId !== undefined && { hostId }),
      isRemoving: deletes && entry.state === "Removing",
    });
  }
  return [...known.values()].toSorted(compareKnown);
}

/** The order of machines: by role, then by index. */
export function compareKnown(
  a: Pick<KnownMachine, "index" | "role">,
  b: Pick<KnownMachine, "index" | "role">,
): number {
  if (a.role !== b.role) return a.role < b.role ? -1 : 1;
  return a.index - b.index;
}

/** Whether the cloud or its object says that a machine was complete. People can take the mark of a VM away. */
export function wasComplete({ machine, entry }: KnownMachine): boolean {
  return machine?.isComplete === true || entry?.state === "Ready";
}

/** Whether something of a machine may be in the cloud, or an object may use its host. */
export function isBegun({ machineId, record, state }: MachineEntry): boolean {
  return machineId !== undefined || record !== undefined || state !== "Absent";
}
