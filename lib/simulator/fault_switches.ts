/**
 * Faults of a simulated server that are switched on and off.
 * @module
 */

/** What a fault is for, and how often. */
export interface Limit {
  /** Ends after this many requests. @default {Infinity} */
  readonly times?: number;
}

/** A fault that is on. */
export interface Switched<F, S> {
  readonly fault: F;
  readonly scope: S;
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

  /** Switches a fault on. Returns the function that switches it off. */
  set(fault: F, scope: Partial<S> = {}): () => void {
    const one = { fault, scope, left: scope.times ?? Infinity };
    this.#switched.add(one);
    return () => this.#switched.delete(one);
  }

  /** Switches everything off. */
  clear(): void {
    this.#switched.clear();
  }

  /** The last fault that fits, which counts as used; `undefined` if none does. */
  protected takeLast(fits: (one: Switched<F, Partial<S>>) => boolean): F | undefined {
    const last = [...this.#switched].findLast((one) => fits(one));
    if (last === undefined) return undefined;
    last.left -= 1;
    if (last.left <= 0) this.#switched.delete(last);
    return last.fault;
  }
}
