/**
 * What the machines of one Vino that are worked on have in common: when others may join them, and what stops all.
 * @module
 */
import type { MachinePlan } from "../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../core/clock.ts";
import type { NeverComplete } from "./removal/never_complete.ts";
import type { ProgressTracker } from "./steps/progress_tracker.ts";
import type { MachineTask } from "./steps/tasks.ts";

/** What a {@linkcode MachineGroup} needs. */
interface MachineGroupOptions {
  readonly clock: Clock;
  readonly tracker: ProgressTracker;
  /** Learns which machines are begun, and which become complete. */
  readonly neverComplete: NeverComplete;
  /** Whether machines are worked on now. */
  readonly isWorking: () => boolean;
}

/**
 * How long machines that are due, and what stopped one, wait for others that are worked on: one observation costs many
 * requests, and a machine more in it costs none.
 */
const OTHERS_MS = 15_000;

/** See the module. */
export class MachineGroup {
  readonly tracker: ProgressTracker;
  readonly #neverComplete: NeverComplete;
  readonly #clock: Clock;
  readonly #isWorking: () => boolean;
  /** Since when machines wait for others. */
  #waitingMs: number | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;
  #hasAnswered = false;

  constructor({ clock, tracker, neverComplete, isWorking }: MachineGroupOptions) {
    this.tracker = tracker;
    this.#neverComplete = neverComplete;
    this.#clock = clock;
    this.#isWorking = isWorking;
  }

  /** Whether machines are worked on. */
  get isWorking(): boolean {
    return this.#isWorking();
  }

  /** Whether something stopped all machines. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether work on a machine came to a good end since the last error that stops all. */
  get hasAnswered(): boolean {
    return this.#hasAnswered && !this.hasFailed;
  }

  /** Whether machines that are due may be worked on now. If not, they wait for others, and not for long. */
  takesMore(): boolean {
    if (this.hasFailed) return false;
    if (!this.isWorking) return true;
    this.#waitingMs ??= this.#clock.monotonic();
    return this.#hasPassed(this.#waitingMs);
  }

  /** Notes that machines are worked on from now on. */
  begin(): void {
    this.#waitingMs = undefined;
  }

  /** Notes that a machine is not worked on any more. */
  noteEnd(): void {
    this.#waitingMs ??= this.#clock.monotonic();
  }

  /** Notes that the next steps of a machine are about to be made: from now on, something of it may be there. */
  noteSteps(task: MachineTask, plan: MachinePlan): void {
    this.#neverComplete.noteSteps(task, plan);
    if (task.goal.kind === "exist") this.tracker.sightings.noteBegun(task.name);
  }

  /** Notes that the steps of a machine were made, or that there are none to make. */
  noteAnswer(): void {
    this.#hasAnswered = true;
  }

  /** Notes that the Vino could not go on: what answered before says nothing about now. */
  noteDoubt(): void {
    this.#hasAnswered = false;
  }

  /** Notes an error because of which others cannot go on either. The first one counts. */
  fail(error: unknown): void {
    this.#failure ??= { error, atMs: this.#clock.monotonic() };
    this.noteDoubt();
  }

  /** Throws what stopped the machines, once: as soon as none is worked on, or after a while. */
  throwFailure(): void {
    if (this.#failure === undefined) return;
    const { error, atMs } = this.#failure;
    if (this.isWorking && !this.#hasPassed(atMs)) return;
    this.#failure = undefined;
    throw error;
  }

  #hasPassed(sinceMs: number): boolean {
    return this.#clock.monotonic() - sinceMs >= OTHERS_MS;
  }
}
