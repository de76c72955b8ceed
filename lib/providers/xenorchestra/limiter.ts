/**
 * At most so many at a time.
 * @module
 */

/** Lets a bounded number of tasks run at once; the others wait in the order they came. */
export class Limiter {
  readonly #limit: number;
  readonly #waiting: Set<() => void> = new Set();
  #running = 0;

  /** @param limit Most tasks at a time, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs a task as soon as there is room.
   *
   * @param signal Ends the wait, with its reason; a task that runs is its owner's business
   */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#limit) await this.#wait(signal);
    else this.#running += 1;
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  /** A place goes straight from the one who leaves to the first who waits. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running -= 1;
    else next();
  }

  #wait(signal: AbortSignal): Promise<void> {
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
}
