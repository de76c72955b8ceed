/**
 * The life of the xo-server process: it can be killed at any moment, and starts again without its memory.
 * @module
 */

/** Why work ended: the process is no more. It is never shown. */
const KILLED = "xo-server is killed";

/** Whether the process lives. */
export class ServerLife {
  #current = new AbortController();
  #isUp = true;
  readonly #listeners = new Set<(isUp: boolean) => void>();

  /** Ends with the process that lives now. Work of a process uses the signal that it began with. */
  get signal(): AbortSignal {
    return this.#current.signal;
  }

  /** Whether it answers. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Tells whenever it dies or starts. */
  watch(listener: (isUp: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Ends the process: its work stops where it is, and no request gets an answer. */
  kill(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#current.abort(new Error(KILLED));
    for (const listener of this.#listeners) listener(false);
  }

  /** Starts another process. */
  start(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#current = new AbortController();
    for (const listener of this.#listeners) listener(true);
  }
}
