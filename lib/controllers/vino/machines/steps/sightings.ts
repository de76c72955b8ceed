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
}

/** The last sighting of each machine, by its name. */
export class Sightings {
  readonly #sightings = new Map<string, Sighting>();

  /** Notes what a look for a change showed. A look that does not know leaves what was known. */
  note(name: string, { state, machine }: MachinePlan, atMs: number): void {
    if (machine === undefined && state !== "Absent") return;
    this.#sightings.set(name, { atMs, ...(machine && { machine }), isReady: state === "Ready" });
  }

  /** The sighting of a machine, if an inventory of this time does not show more. */
  find(name: string, observedAtMs: number): Sighting | undefined {
    const sighting = this.#sightings.get(name);
    return sighting !== undefined && observedAtMs <= sighting.atMs ? sighting : undefined;
  }

  /** The machines that were seen after an inventory of this time; `undefined`: proven that it does not exist. */
  list(observedAtMs: number): ReadonlyMap<string, Machine | undefined> {
    const seen = [...this.#sightings].filter(([, { atMs }]) => observedAtMs <= atMs);
    return new Map(seen.map(([name, { machine }]) => [name, machine]));
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
  { machine, isReady }: Sighting,
): MachinePlan {
  const base = { steps: [], problems: [], parts: [], needsLook: true };
  if (goal === "remove") return { ...base, state: "Removing", ...(machine && { machine }) };
  if (machine === undefined) return { ...base, state: "Absent" };
  return { ...base, state: isReady ? "Ready" : "Unfinished", machine };
}
