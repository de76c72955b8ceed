/**
 * What one attempt to reconcile a load balancer holds and has done.
 * @module
 */
import type { DetachedRun } from "../../engine/detached_work.ts";
import type { Purpose } from "./narrator.ts";
import { Progress } from "./progress.ts";
import type { Task } from "./state/tasks.ts";
import type { Turns } from "./turns.ts";

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
  #turn: { readonly name: string; readonly held: Disposable } | undefined;

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
    this.#turn = { name: turn, held: await this.#turns.take(turn, this.run.signal) };
  }

  [Symbol.dispose](): void {
    this.#turn?.held[Symbol.dispose]();
    this.#turn = undefined;
  }
}
