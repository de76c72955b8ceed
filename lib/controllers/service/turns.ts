/**
 * Lets steps that a cloud does not do at once run one after another.
 * @module
 */

/** Turns by name. Who waits is served in the order of asking. */
export class Turns {
  /** Who waits for each turn that is taken, in order. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Whether another caller has this turn. */
  isTaken(turn: string): boolean {
    return this.#waiting.has(turn);
  }

  /** Whether a caller waits for this turn. */
  isAwaited(turn: string): boolean {
    return (this.#waiting.get(turn)?.size ?? 0) > 0;
  }

  /**
   * Waits for a turn. The caller gives it back by disposing of it, exactly once.
   *
   * @throws `signal.reason` when the signal aborts first
   */
  async take(turn: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const waiting = this.#waiting.get(turn);
    if (waiting === undefined) this.#waiting.set(turn, new Set());
    else await untilServed(waiting, signal);
    return { [Symbol.dispose]: () => this.#give(turn) };
  }

  #give(turn: string): void {
    const waiting = this.#waiting.get(turn) ?? new Set();
    const [next] = waiting;
    if (next === undefined) this.#waiting.delete(turn);
    else next();
  }
}

function untilServed(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const serve = (): void => {
      waiting.delete(serve);
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const abort = (): void => {
      waiting.delete(serve);
      reject(signal.reason);
    };
    waiting.add(serve);
    signal.addEventListener("abort", abort, { once: true });
  });
}
