/**
 * What one attempt to reconcile a load balancer holds and has done.
 * @module
 */
import type { LoadBalancerStep } from "../../cloud/capabilities/load_balancers.ts";
import type { DetachedRun } from "../../engine/detached_work.ts";
import type { Purpose } from "./events.ts";
import { Progress } from "./progress.ts";
import type { Task } from "./state/tasks.ts";
import type { Turns } from "./turns.ts";

/** Steps in one turn while others wait for it. A Service with five ports needs no more. */
const TURN_STEPS_MAX = 20;
/** More than this is no matter of single ports. */
const FAILED_PARTS_MAX = 3;

/** One attempt. Dispose of it at the end: it then gives its turn back. */
export class Attempt implements Disposable {
  readonly run: DetachedRun;
  readonly progress: Progress = new Progress();
  /** The last task of its key. */
  task: Task | undefined;
  /** Absent before the first plan. */
  purpose: Purpose | undefined;
  /** Whether a step was made. */
  isStarted = false;
  #lookAgeMs: number | undefined;
  #isConfirmed = false;
  readonly #turns: Turns;
  #turn: { readonly name: string; readonly held: Disposable; steps: number } | undefined;
  /** Why a step failed, by its part. */
  readonly #failed = new Map<string, unknown>();

  constructor(turns: Turns, run: DetachedRun) {
    this.#turns = turns;
    this.run = run;
  }

  /** Whether it has looked in order to conclude: from then on every look is new enough for that. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** Has the next look be new enough to conclude from. @param ageMs How old it may be, in milliseconds */
  confirm(ageMs: number): void {
    this.#lookAgeMs = ageMs;
    this.#isConfirmed = true;
  }

  /** How old the next look may be, in milliseconds. `undefined`: as old as a full pass leaves it. */
  takeLookAge(): number | undefined {
    const ageMs = this.#lookAgeMs;
    this.#lookAgeMs = undefined;
    return ageMs;
  }

  /** Whether a step of this turn may be made now. */
  hasTurn(turn: string | undefined): boolean {
    return turn === undefined || this.#turn?.name === turn;
  }

  /** Waits for a turn, without a worker. A plan from before is then out of date. */
  async takeTurn(turn: string): Promise<void> {
    this[Symbol.dispose]();
    if (this.#turns.isTaken(turn)) this.run.detach();
    this.#turn = { name: turn, held: await this.#turns.take(turn, this.run.signal), steps: 0 };
  }

  /** Counts a step. A Service with many ports gives its turn on, so that small ones need not wait for all of them. */
  noteStep(): void {
    if (this.#turn === undefined) return;
    this.#turn.steps += 1;
    const { name, steps } = this.#turn;
    if (steps >= TURN_STEPS_MAX && this.#turns.isAwaited(name)) this[Symbol.dispose]();
  }

  /** Leaves a part out from now on, because a step of it failed. @throws the error, if it must not be left out */
  leaveOut({ part }: LoadBalancerStep, error: unknown): void {
    if (part === undefined || this.#failed.size === FAILED_PARTS_MAX) throw error;
    this.#failed.set(part, error);
  }

  /**
   * The first step that needs none of those that failed in this attempt.
   *
   * @throws the first error, if there are steps, but no such one
   */
  pick(steps: readonly LoadBalancerStep[]): LoadBalancerStep | undefined {
    const hasFailed = ({ part }: LoadBalancerStep): boolean =>
      part !== undefined && this.#failed.has(part);
    const next = steps.find((one) => !hasFailed(one));
    if (steps[0] === next) return next;
    if (next?.part !== undefined) return next;
    const [error] = this.#failed.values();
    throw error;
  }

  [Symbol.dispose](): void {
    this.#turn?.held[Symbol.dispose]();
    this.#turn = undefined;
  }
}
