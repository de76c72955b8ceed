/**
 * Faults of a simulated server that are switched on and off.
 * @module
 */

/** What a fault is for, and how often. */
export interface Limit {
  /** Lets this many requests pass first: with `k - 1` and once, only the k-th of them is hit. @default {0} */
  readonly skip?: number;
  /** Ends after this many requests. @default {Infinity} */
  readonly times?: number;
  /** Called when a request is hit, before the server does anything with it. */
  readonly onHit?: () => void;
}

/** A fault that is on. */
interface Switched<F, S> {
  readonly fault: F;
  readonly scope: S;
  toSkip: number;
  left: number;
}

/**
 * The switches. If several match a request, the one set last counts.
 *
 * @typeParam F The faults of a server
 * @typeParam S The requests that a fault is for
 */
export class FaultSwitches<F, S extends Limit> {
  readonly #switched = new Set<Switched<F, Partial<S>>>();
  #taken = 0;

  /** Requests that a fault was for, since the start. */
  get taken(): number {
    return this.#taken;
  }

  /** Switches a fault on. Returns the function that switches it off. */
  set(fault: F, scope: Partial<S> = {}): () => void {
    const one = { fault, scope, toSkip: scope.skip ?? 0, left: scope.times ?? Infinity };
    this.#switched.add(one);
    return () => this.#switched.delete(one);
  }

  /** Switches everything off. */
  clear(): void {
    this.#switched.clear();
  }

  /** The last fault that fits, which counts as used; `undefined` if none does. */
  protected takeLast(fits: (one: Switched<F, Partial<S>>) => boolean): F | undefined {
    const fitting = [...this.#switched].filter((one) => fits(one));
    const last = fitting.findLast((one) => one.toSkip === 0);
    for (const one of fitting) one.toSkip = Math.max(0, one.toSkip - 1);
    if (last === undefined) return undefined;
    this.#taken += 1;
    last.scope.onHit?.();
    last.left -= 1;
    if (last.left <= 0) this.#switched.delete(last);
    return last.fault;
  }
}
