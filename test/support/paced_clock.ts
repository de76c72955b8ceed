/**
 * A clock that runs at the pace that a test sets: faster than the machine's own, or not at all.
 * @module
 */
import type { Clock } from "../../lib/core/clock.ts";

/** So fast that nobody waits for what a controller waits for, and slow enough that requests keep their deadlines. */
export const PACE = 20;

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Time for a test of real input and output that would wait for long. Unlike a `ManualClock`, it runs by itself.
 * Deadlines pass faster, too: at pace 20, a request of 30 s gets one and a half.
 */
export class PacedClock implements Clock {
  readonly #startMs = Date.now();
  readonly #sleepers = new Set<Sleeper>();
  #pace: number;
  /** Its own time, and that of the machine, when the pace was set. */
  #setMs = 0;
  #setAtMs = performance.now();

  /** @param pace Its milliseconds in each millisecond of the machine; 0: it stands still */
  constructor(pace: number) {
    this.#pace = pace;
  }

  /** Sets the pace. Sleeps under way end as much sooner or later. */
  setPace(pace: number): void {
    this.#setMs = this.monotonic();
    this.#setAtMs = performance.now();
    this.#pace = pace;
    for (const sleeper of this.#sleepers) this.#arm(sleeper);
  }

  /** In whole milliseconds, as the system clock: what is written somewhere may only be read with them. */
  now(): number {
    return this.#startMs + Math.floor(this.monotonic());
  }

  monotonic(): number {
    return this.#setMs + (performance.now() - this.#setAtMs) * this.#pace;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(sleeper.timer);
        this.#sleepers.delete(sleeper);
        signal.removeEventListener("abort", abort);
      };
      const abort = (): void => {
        end();
        reject(signal.reason);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper: Sleeper = { dueMs: this.monotonic() + ms, wake, timer: undefined };
      this.#sleepers.add(sleeper);
      this.#arm(sleeper);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #arm(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    if (this.#pace === 0) return;
    const leftMs = (sleeper.dueMs - this.monotonic()) / this.#pace;
    sleeper.timer = setTimeout(sleeper.wake, Math.max(0, leftMs));
  }
}
