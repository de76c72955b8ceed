/**
 * Notices that a watch says nothing any more.
 * @module
 */
import { type Clock, toTimeoutError } from "../../core/clock.ts";
import type { Recovery } from "../api/recovery.ts";

/**
 * How long a watch may say nothing, in milliseconds. A quiet one is asked for in pieces that are shorter (see
 * `toWatchSeconds` in watcher_state.ts), and the server ends each, so whatever still holds such a connection passes
 * nothing on. A long one, which said something all the time, falls silent when the cluster does, and costs one request.
 */
export const SILENCE_MS_MAX = 40_000;
/** How long a watch must have said nothing to be doubted, in milliseconds, when another connection was silent. */
export const DOUBT_MS_MIN = 5_000;

/** What a {@linkcode WatchSilence} works with. */
export interface WatchSilenceOptions {
  readonly clock: Clock;
  /** Tells when other connections turn out to be silent. @default {nobody does} */
  readonly recovery?: Recovery | undefined;
}

/**
 * Ends one watch once it has said nothing for {@linkcode SILENCE_MS_MAX}, or for {@linkcode DOUBT_MS_MIN} when another
 * connection was silent and a new one works. One timer sleeps, however much is said: when it wakes, it looks at when
 * something was said last.
 */
export class WatchSilence {
  readonly #clock: Clock;
  readonly #silent = new AbortController();
  readonly #over = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  #heardMs: number;
  /** Aborts with the signal of the watcher, or with a `TimeoutError` when the watch has been silent for too long. */
  readonly signal: AbortSignal;

  /** @param signal Ends the watcher */
  constructor({ clock, recovery }: WatchSilenceOptions, signal: AbortSignal) {
    this.#clock = clock;
    this.#heardMs = clock.monotonic();
    this.signal = AbortSignal.any([signal, this.#silent.signal]);
    this.#unsubscribe = recovery?.subscribe((news) => {
      if (news === "reconnected" && this.#leftMs(DOUBT_MS_MIN) <= 0) this.#giveUp();
    });
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
    this.#unsubscribe?.();
    this.#over.abort();
  }

  async #wait(): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.#over.signal]);
    for (;;) {
      const leftMs = this.#leftMs(SILENCE_MS_MAX);
      if (leftMs <= 0) return this.#giveUp();
      await this.#clock.sleep(leftMs, signal);
    }
  }

  #leftMs(mostMs: number): number {
    return this.#heardMs + mostMs - this.#clock.monotonic();
  }

  #giveUp(): void {
    this.#silent.abort(toTimeoutError());
  }
}
