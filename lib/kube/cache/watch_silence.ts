/**
 * Detects a silent watch.
 * @module
 */
import { type Clock, toTimeoutError } from "../../core/clock.ts";
import type { Recovery } from "../api/recovery.ts";

/**
 * How long a watch may be silent, in milliseconds. A quiet watch is opened for shorter pieces (see `toWatchSeconds` in
 * watcher_state.ts), and the server ends each piece. So a connection that is silent for longer passes no data any more.
 * A long watch with frequent data becomes silent when the cluster does; that costs one request.
 */
export const SILENCE_MS_MAX = 40_000;
/** After how much silence a watch is suspect if another connection was silent, in milliseconds. */
export const DOUBT_MS_MIN = 5_000;

/** What a {@linkcode WatchSilence} needs. */
interface WatchSilenceOptions {
  readonly clock: Clock;
  /** Reports when other connections turn out to be silent. @default {nothing does} */
  readonly recovery?: Recovery | undefined;
}

/**
 * Ends a watch that was silent for {@linkcode SILENCE_MS_MAX}, or for {@linkcode DOUBT_MS_MIN} if another connection
 * was silent and a new one works. One timer serves any amount of data: when it fires, it checks the time of the last
 * data.
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

  /** Whether the watch was ended for its silence. */
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
