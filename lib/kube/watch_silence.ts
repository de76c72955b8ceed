/**
 * Notices that a watch says nothing any more.
 * @module
 */
import type { Clock } from "../core/clock.ts";

/**
 * How long a watch may say nothing, in milliseconds: two bookmarks and some. The API server sends one about once a
 * minute while versions move on, so whatever still holds such a connection passes nothing on. A server that has no
 * news, or sends no bookmarks, is asked once in that time, at the version that it knows.
 */
export const SILENCE_MS_MAX = 150_000;

/**
 * Ends one watch once it has said nothing for {@linkcode SILENCE_MS_MAX}. One timer sleeps, however much is said: when
 * it wakes, it looks at when something was said last.
 */
export class WatchSilence {
  readonly #clock: Clock;
  readonly #silent = new AbortController();
  readonly #over = new AbortController();
  #heardMs: number;
  /** Aborts with the signal of the watcher, or when the watch has been silent for too long. */
  readonly signal: AbortSignal;

  /** @param signal Ends the watcher */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#heardMs = clock.monotonic();
    this.signal = AbortSignal.any([signal, this.#silent.signal]);
    // Only the end of the watch can reject this.
    this.#wait().catch(() => undefined);
  }

  /** Whether it was this that ended the watch. */
  get isOver(): boolean {
    return this.#silent.signal.aborted;
  }

  /** The watch said something. */
  break(): void {
    this.#heardMs = this.#clock.monotonic();
  }

  /** The watch has ended: nobody listens any more. */
  end(): void {
    this.#over.abort();
  }

  async #wait(): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.#over.signal]);
    for (;;) {
      const leftMs = this.#heardMs + SILENCE_MS_MAX - this.#clock.monotonic();
      if (leftMs <= 0) return this.#silent.abort();
      await this.#clock.sleep(leftMs, signal);
    }
  }
}
