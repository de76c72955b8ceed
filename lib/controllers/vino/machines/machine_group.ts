/**
 * The machines of one Vino that are worked on now, and what stops all of them.
 * @module
 */
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
}

/**
 * How long machines that are done with their steps wait for others, so that one observation serves all of them. It
 * costs many requests, and a machine more in it costs none.
 */
const OTHERS_MS = 15_000;

/** See the module. */
export class MachineGroup {
  readonly tracker: ProgressTracker;
  readonly neverComplete: NeverComplete;
  readonly #clock: Clock;
  /** Since when a machine waits for others. */
  #waitingMs: number | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor({ clock, tracker, neverComplete }: MachineGroupOptions) {
    this.tracker = tracker;
    this.neverComplete = neverComplete;
    this.#clock = clock;
  }

  /** Whether machines are worked on. */
  get isWorking(): boolean {
    return this.tracker.workingCount > 0;
  }

  /** Whether more machines may be worked on now. */
  get hasRoom(): boolean {
    if (this.hasFailed) return false;
    if (!this.isWorking) return true;
    return this.#waitingMs !== undefined && this.#clock.monotonic() - this.#waitingMs >= OTHERS_MS;
  }

  /** Whether something stopped all machines. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Notes that machines are worked on from now on. */
  begin(tasks: readonly MachineTask[]): void {
    this.#waitingMs = undefined;
    for (const { name } of tasks) this.tracker.begin(name);
  }

  /** Notes that a machine is not worked on any more. @param name In the cloud */
  end(name: string): void {
    this.tracker.end(name);
    this.#waitingMs ??= this.#clock.monotonic();
  }

  /** Notes an error because of which others cannot go on either. The first one counts. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Throws what stopped the machines, once, as soon as none is worked on any more. */
  throwFailure(): void {
    if (this.#failure === undefined || this.isWorking) return;
    const { error } = this.#failure;
    this.#failure = undefined;
    throw error;
  }
}
