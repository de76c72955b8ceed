/**
 * How many machines of one Vino may be removed at once, because its spec wants fewer.
 * @module
 */
import {
  dropDeletions,
  type FleetLimitSettings,
  type FleetReading,
  readFleet,
} from "../../../../cloud/deletion/fleet_limit.ts";
import { CONFIRMED_REMOVAL } from "../../words.ts";

/** What the limit is compared with. */
export interface RemovalQuestion {
  /** Names of all machines that exist or may exist. */
  readonly known: readonly string[];
  /** Names of those that the spec does not want. */
  readonly surplus: readonly string[];
  /** In monotonic milliseconds. */
  readonly nowMs: number;
}

/**
 * Remembers which machines of a Vino were removed recently.
 *
 * The memory is that of the process: after a restart, the window begins again with the machines that there are.
 */
export class RemovalLimit {
  #removals: ReadonlyMap<string, number> = new Map();

  /** Compares the machines that are to go with those that there were before the recent removals. */
  read({ known, surplus, nowMs }: RemovalQuestion, settings: FleetLimitSettings): FleetReading {
    const startMs = nowMs - settings.fleetWindowMs;
    this.#removals = dropDeletions(this.#removals, startMs);
    const size = new Set([...known, ...this.#removals.keys()]).size;
    const missing = new Map(surplus.map((name) => [name, true]));
    const sizes = [{ atMs: startMs, size }];
    return readFleet({ missing, sizes, deletions: this.#removals }, nowMs, settings);
  }

  /** Notes that a machine was removed. */
  noteRemoval(name: string, nowMs: number): void {
    this.#removals = new Map(this.#removals).set(name, nowMs);
  }
}

/** Whether a person confirmed this spec, and not another one. @param annotations Of the Vino */
export function isConfirmed({
  generation,
  annotations = {},
}: {
  readonly generation?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}): boolean {
  return generation !== undefined && annotations[CONFIRMED_REMOVAL] === String(generation);
}

/** Says that too many machines are to go, and how a person confirms it; no full stop. */
export function describeLimit(
  { affected, deleted, sizeAtStart, limit }: FleetReading,
  {
    namespace = "",
    name,
    generation = 0,
  }: {
    readonly namespace?: string;
    readonly name: string;
    readonly generation?: number;
  },
): string {
  const recent = deleted === 0 ? "" : `, ${deleted} of them already`;
  const what = `The spec wants ${affected} of ${sizeAtStart} machines gone at once${recent}`;
  return (
    `${what}, and the limit is ${limit}: Landfall removes none. If that is right, confirm it: ` +
    `kubectl annotate vino ${name} --namespace=${namespace} --overwrite ${CONFIRMED_REMOVAL}=${generation}`
  );
}
