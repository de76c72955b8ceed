/**
 * What looks showed of single machines. It counts more than an inventory that began before.
 * @module
 */
import type { Machine, MachinePlan } from "../../../../cloud/capabilities/machines.ts";

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
