/**
 * A limit on how much runs at once.
 * @module
 */

/** A number of places; work without a place waits in line. */
export class Limiter {
  /** In the order they came. */
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** @param size How many may run at once, at least 1 */
  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`Cannot limit to "${size}": the size must be a whole number from 1`);
    }
    this.#free = size;
  }

  /** Runs `work` as soon as there is a place. Rejects with `signal.reason` if the signal aborts before that. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#give();
    }
  }

  #take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Gives the place to the next in line, or frees it. */
  #give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }
}
