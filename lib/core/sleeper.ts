/**
 * A sleep that other code can end early.
 * @module
 */
import { abortable } from "./abortable.ts";
import type { Clock } from "./clock.ts";

/** Lets one loop sleep, and others wake it. It stores no wake-up: one that comes before the sleep has no effect. */
export class Sleeper {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Ends after that time, at a wake-up, or when the signal aborts; never rejects.
   *
   * @param ms Milliseconds; `Infinity` uses no timer
   * @returns Whether a wake-up ended it
   */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    const woken = new AbortController();
    const either = AbortSignal.any([signal, woken.signal]);
    this.#wake = () => woken.abort();
    const over =
      ms < Infinity
        ? this.#clock.sleep(ms, either)
        : abortable(new Promise<void>(() => undefined), either);
    // Only the two signals can reject this.
    await over.catch(() => undefined);
    this.#wake = undefined;
    return woken.signal.aborted;
  }

  /** Ends the sleep, if there is one. */
  wake(): void {
    this.#wake?.();
  }
}
