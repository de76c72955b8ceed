/**
 * A sleep that somebody may end before its time.
 * @module
 */
import { abortable } from "./abortable.ts";
import type { Clock } from "./clock.ts";

/** Lets one loop sleep, and others wake it. It keeps nothing: who is awake is not woken by what was said before. */
export class Sleeper {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Ends after that time, once somebody wakes it, or when the signal aborts; never rejects.
   *
   * @param ms Milliseconds; infinite ones take no timer
   * @returns Whether somebody woke it
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
