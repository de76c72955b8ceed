/**
 * The loop that brings an object to its desired state: observe, plan, apply the first step, and again, until a plan has
 * no steps.
 *
 * A plan starts from what is there. So a crash between two steps, or a change by hand, is only another state to start
 * from.
 * @module
 */
import { type Clock, startDeadline } from "../core/clock.ts";
import { Locks } from "../core/concurrency.ts";
import { type Fence, LeadershipLostError } from "../core/fence.ts";
import type { ReconcileResult } from "./workers.ts";

/** What is to do for an object: it is there, or goes away. */
interface Task {
  readonly kind: string;
}

/** One change. Plain data: equal steps are the same step. */
export interface Step {
  /** What it does, for errors: `create rule tcp 443 on 192.0.2.10`. */
  readonly summary: string;
  /** Steps with the same lock are applied one at a time. @default {at any time} */
  readonly lock?: string;
  /** What the lock is for, for people: `network web`. */
  readonly lockName?: string;
  /** Which part of the object it is for. @default {all steps after it need it} */
  readonly part?: string;
}

/** What is to do. */
export interface Plan<S extends Step> {
  /** In this order. The first is applied, and then there is another plan. */
  readonly steps: readonly S[];
}

/** A task with what was observed for it, and what is to do about that. */
export interface Planned<T, O, P> {
  readonly task: T;
  readonly observation: O;
  readonly plan: P;
}

/** The result of a reconcile, or that something has changed and it must go on. */
export type PassResult = ReconcileResult | "again";

/**
 * The work on one object, from the start of a reconcile to its end.
 *
 * @typeParam O An observation
 */
export interface Convergence<
  T extends Task,
  O,
  S extends Step = Step,
  P extends Plan<S> = Plan<S>,
> {
  /** The task now. `undefined`: there is nothing to do. Reads only memory. */
  find(): T | undefined;
  /**
   * Does what must be done before anything is observed, such as adding a finalizer.
   *
   * @returns `undefined` if there is nothing of that
   */
  prepare(task: T, signal: AbortSignal): Promise<PassResult | undefined>;
  observe(task: T, signal: AbortSignal): Promise<O>;
  /** Whether an observation for one task serves the next one of the same kind. @default {it does} */
  isSame?(before: T, after: T): boolean;
  /** Pure. */
  plan(task: T, observation: O): P;
  /** The object, for others that wait for its lock: `Service store/shop`. @default {it has no name} */
  readonly name?: string;
  /**
   * Notes that the next step waits for others with its lock. @default {no step has a lock}
   *
   * @param findHolder Who has the lock now
   */
  noteWait?(step: S, findHolder: () => string | undefined): void;
  /** Applies a step. Safe to repeat. */
  apply(step: S, planned: Planned<T, O, P>, signal: AbortSignal): Promise<void>;
  /** Whether steps of other parts may succeed after a step failed with this error. @default {none may} */
  mayGoOn?(error: unknown): boolean;
  /** Says what the object came to, after a plan without steps. */
  report(planned: Planned<T, O, P>, signal: AbortSignal): Promise<PassResult>;
  /**
   * Says that the reconcile failed. Not called when it was stopped, because the next leader goes on.
   *
   * @param task The last one, if there was any
   * @returns When to try again, if this is no failure. `undefined`: the error is thrown
   */
  fail(
    error: unknown,
    task: T | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined>;
}

/** A step has a deadline of its own; this one only ends what ignores it. */
const STEP_TIMEOUT_MS = 1_800_000;
/** More than the largest object needs: a thousand machines with ten passes each, if every pass has only one. */
const PASSES_MAX = 10_000;
/** How often the same step may be needed in one reconcile: another program may undo it once. */
const REPEATS_MAX = 3;
/** Steps with one lock while others wait for it. A Service with five ports needs no more. */
const LOCKED_STEPS_MAX = 20;
/** More than this is no matter of single parts. */
const FAILED_PARTS_MAX = 3;

/** Runs the loop for the objects of one controller. */
export class Converger {
  readonly #options: { readonly clock: Clock; readonly fence: Fence };
  readonly #locks = new Locks();

  constructor(options: { readonly clock: Clock; readonly fence: Fence }) {
    this.#options = options;
  }

  /**
   * Reconciles one object.
   *
   * @param detach Gives the worker back, before a wait for others. @default {it is kept}
   * @throws what a method of `work` throws; an Error if the same step is needed again and again
   */
  async reconcile<T extends Task, O, S extends Step, P extends Plan<S>>(
    work: Convergence<T, O, S, P>,
    signal: AbortSignal,
    detach: () => void = () => undefined,
  ): Promise<ReconcileResult> {
    using reconcile = new Reconcile(work, { ...this.#options, locks: this.#locks, signal, detach });
    try {
      for (let passes = 0; passes < PASSES_MAX; passes += 1) {
        signal.throwIfAborted();
        const result = await reconcile.pass();
        if (result !== "again") return result;
      }
      throw new Error(`more than ${PASSES_MAX} passes; trying again later`);
    } catch (error) {
      const isOver = signal.aborted || error instanceof LeadershipLostError;
      const result = isOver ? undefined : await work.fail(error, reconcile.task, signal);
      if (result === undefined) throw error;
      return result;
    }
  }
}

/** What a {@linkcode Reconcile} needs. */
interface ReconcileOptions {
  readonly clock: Clock;
  readonly fence: Fence;
  readonly locks: Locks;
  readonly signal: AbortSignal;
  readonly detach: () => void;
}

/** One reconcile. Dispose of it at the end: it then gives its lock on. */
class Reconcile<T extends Task, O, S extends Step, P extends Plan<S>> implements Disposable {
  /** The last one. */
  task: T | undefined;
  readonly #work: Convergence<T, O, S, P>;
  readonly #options: ReconcileOptions;
  #lock: { readonly name: string; readonly held: Disposable; steps: number } | undefined;
  /** How often each step was applied. */
  readonly #applied = new Map<string, number>();
  /** Why a step failed, by its part. */
  readonly #failed = new Map<string, unknown>();

  constructor(work: Convergence<T, O, S, P>, options: ReconcileOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** Applies at most one step. */
  async pass(): Promise<PassResult> {
    const work = this.#work;
    const { signal } = this.#options;
    const before = this.#find();
    if (before === undefined) return {};
    const prepared = await work.prepare(before, signal);
    if (prepared !== undefined) return prepared;
    const observation = await work.observe(before, signal);
    const task = this.#find();
    if (task?.kind !== before.kind || work.isSame?.(before, task) === false) return "again";
    const plan = work.plan(task, observation);
    const planned = { task, observation, plan };
    const step = this.#pick(plan.steps);
    if (step !== undefined) {
      await this.#follow(step, planned);
      return "again";
    }
    return await work.report(planned, signal);
  }

  [Symbol.dispose](): void {
    this.#lock?.held[Symbol.dispose]();
    this.#lock = undefined;
  }

  #find(): T | undefined {
    const task = this.#work.find();
    this.task = task ?? this.task;
    return task;
  }

  /**
   * The first step that needs none of those that failed.
   *
   * @throws the first error, if there are steps, but no such one
   */
  #pick(steps: readonly S[]): S | undefined {
    const hasFailed = ({ part }: S): boolean => part !== undefined && this.#failed.has(part);
    const next = steps.find((one) => !hasFailed(one));
    if (steps[0] === next) return next;
    if (next?.part !== undefined) return next;
    const [error] = this.#failed.values();
    throw error;
  }

  /** Applies a step, or waits for its lock. A plan from before the wait is out of date. */
  async #follow(step: S, planned: Planned<T, O, P>): Promise<void> {
    const { clock, fence, signal } = this.#options;
    const { lock } = step;
    if (lock !== undefined && this.#lock?.name !== lock) return await this.#takeLock(lock, step);
    this.#count(step);
    fence.check();
    using deadline = startDeadline(signal, STEP_TIMEOUT_MS, clock);
    try {
      await this.#work.apply(step, planned, deadline.signal);
    } catch (error) {
      if (this.#work.mayGoOn?.(error) !== true) throw error;
      this.#leaveOut(step, error);
    }
    if (lock !== undefined) this.#giveLockOn();
  }

  /** @throws {Error} if the same step was applied too often already */
  #count(step: S): void {
    const text = JSON.stringify(step);
    const count = (this.#applied.get(text) ?? 0) + 1;
    this.#applied.set(text, count);
    if (count <= REPEATS_MAX) return;
    throw new Error(`"${step.summary}" succeeded ${REPEATS_MAX} times and is needed again`);
  }

  /** Leaves a part out from now on. @throws the error, if it must not be left out */
  #leaveOut({ part }: S, error: unknown): void {
    if (part === undefined || this.#failed.size === FAILED_PARTS_MAX) throw error;
    this.#failed.set(part, error);
  }

  async #takeLock(name: string, step: S): Promise<void> {
    const { locks, signal, detach } = this.#options;
    this[Symbol.dispose]();
    if (locks.isTaken(name)) {
      this.#work.noteWait?.(step, () => locks.findHolder(name));
      detach();
    }
    this.#lock = { name, held: await locks.take(name, signal, this.#work.name), steps: 0 };
  }

  /** An object with many steps lets others go between, so that small ones need not wait for all of them. */
  #giveLockOn(): void {
    if (this.#lock === undefined) return;
    this.#lock.steps += 1;
    const { name, steps } = this.#lock;
    if (steps >= LOCKED_STEPS_MAX && this.#options.locks.isAwaited(name)) this[Symbol.dispose]();
  }
}
