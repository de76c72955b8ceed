/**
 * How many machines of one Vino may be removed at once, because its spec wants fewer.
 * @module
 */
import { formatTime } from "../../../../core/clock.ts";
import {
  dropDeletions,
  type FleetLimitSettings,
  type FleetReading,
  readFleet,
} from "../../../../cloud/deletion/fleet_limit.ts";
import { quote } from "../../../../core/text/printable.ts";
import type { VinoRemoval } from "../../resource/vino.ts";
import { CONFIRMED_REMOVAL } from "../../words.ts";
import { listNextSteps, type MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import { wasComplete, type KnownMachine } from "../../placement/known.ts";
import type { MachineTask } from "../steps/tasks.ts";

/** What the limit is compared with. */
interface RemovalQuestion {
  /** Names of all machines that exist or may exist. */
  readonly known: readonly string[];
  /** Names of those that the spec does not want. */
  readonly surplus: readonly string[];
  /** In monotonic milliseconds. */
  readonly nowMs: number;
}

/** Two clocks at the same moment, in milliseconds. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Remembers which machines of a Vino were removed recently. The status of the Vino keeps the list, so that a restart
 * does not begin another window.
 */
export class RemovalLimit {
  #removals: ReadonlyMap<string, number> = new Map();
  /** For the status: it keeps the time that it has. */
  readonly #times = new Map<string, string>();

  /** Takes over what another process removed. A time in the future counts as now. */
  load(
    removals: readonly VinoRemoval[],
    { monotonicMs, wallMs }: Moment,
    { fleetWindowMs }: Pick<FleetLimitSettings, "fleetWindowMs">,
  ): void {
    const loaded = new Map(this.#removals);
    for (const { name, time } of removals) {
      const ageMs = Math.max(0, wallMs - Date.parse(time));
      // What is not a time counts, too: it is no proof that the removal is long ago.
      if (ageMs > fleetWindowMs || loaded.has(name)) continue;
      loaded.set(name, Number.isNaN(ageMs) ? monotonicMs : monotonicMs - ageMs);
      this.#times.set(name, time);
    }
    this.#removals = loaded;
  }

  /** For the status. Those from before the window are missing. */
  list(nowMs: number, { fleetWindowMs }: Pick<FleetLimitSettings, "fleetWindowMs">): VinoRemoval[] {
    this.#drop(nowMs - fleetWindowMs);
    const names = [...this.#removals.keys()];
    return names.flatMap((name) => {
      const time = this.#times.get(name);
      return time === undefined ? [] : [{ name, time }];
    });
  }

  /** Compares the machines that are to go with those that there were before the recent removals. */
  read({ known, surplus, nowMs }: RemovalQuestion, settings: FleetLimitSettings): FleetReading {
    const startMs = nowMs - settings.fleetWindowMs;
    this.#drop(startMs);
    const size = new Set([...known, ...this.#removals.keys()]).size;
    const missing = new Map(surplus.map((name) => [name, true]));
    const sizes = [{ atMs: startMs, size }];
    return readFleet({ missing, sizes, deletions: this.#removals }, nowMs, settings);
  }

  /** Notes that a machine was removed. */
  noteRemoval(name: string, { monotonicMs, wallMs }: Moment): void {
    this.#removals = new Map(this.#removals).set(name, monotonicMs);
    this.#times.set(name, formatTime(wallMs));
  }

  #drop(startMs: number): void {
    this.#removals = dropDeletions(this.#removals, startMs);
    for (const name of this.#times.keys()) {
      if (!this.#removals.has(name)) this.#times.delete(name);
    }
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

/**
 * Says that too many machines are to go, and how a person confirms it; no full stop.
 *
 * @param metadata Of the Vino
 * @param isEnd Whether the Vino itself is being deleted
 */
export function describeLimit(
  { affected, deleted, sizeAtStart, limit }: FleetReading,
  {
    namespace = "",
    name,
    generation = 0,
    annotations = {},
  }: {
    readonly namespace?: string;
    readonly name: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
  },
  isEnd: boolean,
): string {
  const recent = deleted === 0 ? "" : `, ${deleted} of them already`;
  const many = `${affected} of ${sizeAtStart} machines`;
  const what = isEnd
    ? "The Vino is being deleted with the deletionPolicy Delete, " +
      `so ${many} would go with their disks${recent}`
    : `The spec wants ${many} gone at once${recent}`;
  const given = annotations[CONFIRMED_REMOVAL];
  const other =
    given === undefined
      ? ""
      : ` The annotation ${CONFIRMED_REMOVAL} is ${quote(given)}, but the generation ` +
        `of ${isEnd ? "the Vino" : "this spec"} is ${generation}.`;
  const way = isEnd
    ? "To keep them, set deletionPolicy to Retain. To delete them, confirm it"
    : "If that is right, confirm it";
  return (
    `${what}, and the limit is ${limit}: Landfall removes none.${other} ${way}: ` +
    `kubectl annotate vino ${name} --namespace=${namespace} --overwrite ${CONFIRMED_REMOVAL}=${generation}`
  );
}

/**
 * Remembers machines of one Vino that this process began to make, and that were not complete since. Of all others, for
 * example those that were begun before a restart, that is not known.
 */
export class NeverComplete {
  readonly #names = new Set<string>();

  /** Notes that the next steps of a plan are about to be made. @param plan From a look for a change */
  noteSteps({ name, goal }: Pick<MachineTask, "goal" | "name">, plan: MachinePlan): void {
    // Also if it fails, it may be carried out.
    const completes = listNextSteps(plan).some((step) => step.completes === true);
    const isProvenAbsent = plan.state === "Absent" && plan.needsLook !== true;
    if (completes) this.#names.delete(name);
    else if (goal.kind === "exist" && isProvenAbsent) this.#names.add(name);
  }

  /**
   * Forgets those that something shows to be complete or in use, and those that are not known any more.
   *
   * @param working Names of machines that are worked on: what was begun of them may not be known yet
   */
  review(known: readonly KnownMachine[], working: ReadonlySet<string>): void {
    const shown = new Map(known.map((one) => [one.name, one]));
    for (const name of this.#names) {
      const one = shown.get(name);
      if (one === undefined ? !working.has(name) : mayHaveData(one)) this.#names.delete(name);
    }
  }

  /** Whether a machine was never complete, for sure. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}

function mayHaveData(known: KnownMachine): boolean {
  const { entry, isConsumed } = known;
  return wasComplete(known) || isConsumed || entry?.bareMetalHost !== undefined;
}
