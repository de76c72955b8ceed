/**
 * The machines that a Vino has or may have: those that the cloud shows, those that have an object, and what
 * looks showed of them.
 * @module
 */
import {
  type Machine,
  type MachineOwner,
  type MachinesView,
  parseMachineName,
  toMachineName,
  toOwnerPrefix,
  type MachinePlan,
} from "../../../cloud/capabilities/machines.ts";
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

/** What the last look at a machine showed. */
export interface Sighting {
  /** When the look began, in monotonic milliseconds. */
  readonly atMs: number;
  /** Absent: the look proved that it does not exist. */
  readonly machine?: Machine;
  /** Whether it was complete, and was started if it must be. */
  readonly isReady: boolean;
  /** Whether its removal is over: then what the status says of it does not count any more either. */
  readonly isGone: boolean;
}

/** The last sighting of each machine, by its name. */
export class Sightings {
  readonly #sightings = new Map<string, Sighting>();

  /** Notes what a look for a change showed. A look that does not know leaves what was known. */
  note(name: string, { state, machine }: MachinePlan, atMs: number): void {
    if (state !== "Absent") this.noteBegun(name);
    if (machine === undefined && state !== "Absent") return;
    const isReady = state === "Ready";
    this.#sightings.set(name, {
      atMs,
      ...(machine && { machine }),
      isReady,
      isGone: this.isGone(name),
    });
  }

  /** Notes that the removal of a machine is over. @param atMs When the look began that proved it */
  noteGone(name: string, atMs: number): void {
    this.#sightings.set(name, { atMs, isReady: false, isGone: true });
  }

  /** Notes that something of a machine may be there again. */
  noteBegun(name: string): void {
    const before = this.#sightings.get(name);
    if (before?.isGone === true) this.#sightings.set(name, { ...before, isGone: false });
  }

  /** Whether the removal of a machine is over, and no inventory is newer than that. */
  isGone(name: string): boolean {
    return this.#sightings.get(name)?.isGone === true;
  }

  /** The sighting of a machine, if an inventory of this time does not show more. */
  find(name: string, observedAtMs: number): Sighting | undefined {
    const sighting = this.#sightings.get(name);
    return sighting !== undefined && observedAtMs <= sighting.atMs ? sighting : undefined;
  }

  /** The machines that were seen after an inventory of this time. */
  list(observedAtMs: number): ReadonlyMap<string, Sighting> {
    return new Map([...this.#sightings].filter(([, { atMs }]) => observedAtMs <= atMs));
  }

  /** Forgets what an inventory of this time shows better. */
  prune(observedAtMs: number): void {
    for (const [name, { atMs }] of this.#sightings) {
      if (observedAtMs > atMs) this.#sightings.delete(name);
    }
  }
}

/** The plan of a machine until the next look at it, from a sighting alone. */
export function toInterimPlan(
  goal: "exist" | "remove",
  { machine, isReady }: Pick<Sighting, "isReady" | "machine">,
): MachinePlan {
  const base = { steps: [], problems: [], parts: [], needsLook: true };
  if (goal === "remove") return { ...base, state: "Removing", ...(machine && { machine }) };
  if (machine === undefined) return { ...base, state: "Absent" };
  return { ...base, state: isReady ? "Ready" : "Unfinished", machine };
}
