/**
 * A clock that stands still until a test moves it.
 * @module
 */
import type { Clock } from "../../lib/core/clock.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

// A chain of promises and loopback-free callbacks needs a few turns of the event loop to come to rest.
const SETTLE_TURNS = 4;
const PASS_MS = 100;

/** Time under the test's control: it moves only by {@linkcode ManualClock.advance}. */
export class ManualClock implements Clock {
  readonly #startMs: number;
  readonly #rest: () => Promise<void>;
  readonly #sleepers = new Set<Sleeper>();
  #elapsedMs = 0;

  /**
   * @param startMs Wall-clock time at the start. @default 2026-01-01T00:00:00Z
   * @param rest Waits until all that woke has come to rest, before time goes on. @default {settle}
   */
  constructor(startMs: number = Date.UTC(2026, 0, 1), rest: () => Promise<void> = settle) {
    this.#startMs = startMs;
    this.#rest = rest;
  }

  /** How many sleeps have neither ended nor been aborted. */
  get pending(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      };
      const sleeper: Sleeper = {
        dueMs: this.#elapsedMs + ms,
        wake: () => {
          signal.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  /**
   * Moves time on by `ms`, waking sleepers in the order they are due, each at its own time.
   * What a sleeper does once awake settles before the next one wakes, so that new sleeps are seen.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await this.#rest();
    for (;;) {
      const next = this.#next(endMs);
      if (next === undefined) break;
      this.#sleepers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.wake();
      await this.#rest();
    }
    // Another one may have moved it further meanwhile: time does not go back.
    this.#elapsedMs = Math.max(this.#elapsedMs, endMs);
    await this.#rest();
  }

  #next(endMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const one of this.#sleepers) {
      if (one.dueMs <= endMs && (first === undefined || one.dueMs < first.dueMs)) first = one;
    }
    return first;
  }
}

/**
 * Lets time pass until some work is over. It passes only when nothing can go on without it: never for work that waits
 * for real input or output.
 */
export async function passUntil<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  work.then(end, end);
  for (;;) {
    await settle();
    if (isOver) return await work;
    await clock.advance(PASS_MS);
  }
}

/** Lets promises and immediates that are ready run to rest. Does not wait for real input or output. */
export async function settle(turns: number = SETTLE_TURNS): Promise<void> {
  // Within `expect(…).rejects`, Bun may wait for input or a timer although an immediate is due.
  const awake = setInterval(() => {}, 1);
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  clearInterval(awake);
}
