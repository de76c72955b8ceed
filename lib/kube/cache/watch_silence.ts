/**
 * Notices that a watch has fallen silent.
 * @module
 */
import { type Clock, toTimeoutError } from "../../core/clock.ts";
import type { Recovery } from "../api/recovery.ts";

/**
 * How long a watch may be silent, in milliseconds. A quiet watch is opened for shorter pieces (see `toWatchSeconds` in
 * watcher_state.ts), and the server ends each piece. So a connection that is silent for longer passes no data any more.
 * A long watch, which had data all the time, falls silent when the cluster does; that costs one request.
 */
export const SILENCE_MS_MAX = 40_000;
/** How long a watch must be silent to be suspect, in milliseconds, when another connection was silent. */
export const DOUBT_MS_MIN = 5_000;

/** What a {@linkcode WatchSilence} works with. */
export interface WatchSilenceOptions {
  readonly clock: Clock;
  /** Says when other connections turn out to be silent. @default {nothing does} */
  readonly recovery?: Recovery | undefined;
}

/**
 * Ends one watch that was silent for {@linkcode SILENCE_MS_MAX}, or for {@linkcode DOUBT_MS_MIN} when another
 * connection was silent and a new one works. There is one timer for any amount of data: when it fires, it looks at the
 * time of the last data.
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

  /** Whether this ended the watch. */
  get isOver(): boolean {
    return this.#silent.signal.aborted;
  }

  /** The watch received data. */
  break(): void {
    this.#heardMs = this.#clock.monotonic();
  }

  /** The watch has ended. */
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
