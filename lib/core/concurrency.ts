/**
 * How much runs at once, and how often: limits for work that comes, and work on many items.
 * @module
 */
import type { Clock } from "./clock.ts";

/** How often something may happen: so many at once, and so many on average. */
export class RateBudget {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #perSecond: number;
  #left: number;
  #sinceMs: number;

  /**
   * @param limits.max How many there may be at once
   * @param limits.perSecond How many there may be on average
   */
  constructor(
    clock: Clock,
    { max, perSecond }: { readonly max: number; readonly perSecond: number },
  ) {
    this.#clock = clock;
    this.#max = max;
    this.#perSecond = perSecond;
    this.#left = max;
    this.#sinceMs = clock.monotonic();
  }

  /** Whether one more is allowed. */
  get hasRoom(): boolean {
    const nowMs = this.#clock.monotonic();
    const gained = ((nowMs - this.#sinceMs) / 1_000) * this.#perSecond;
    this.#left = Math.min(this.#max, this.#left + gained);
    this.#sinceMs = nowMs;
    return this.#left >= 1;
  }

  /** Counts one. Running work may make the number negative. */
  spend(): void {
    this.#left -= 1;
  }
}

/** A number of places; work without a place waits in line. */
export class Limiter {
  /** In the order they came. */
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** @param size How many may run at once, at least 1 */
  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`Cannot limit to "${size}": the size must be a whole number from 1`);
    }
    this.#free = size;
  }

  /** Runs `work` as soon as there is a place. Rejects with `signal.reason` if the signal aborts before that. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#give();
    }
  }

  #take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return untilServed(this.#waiting, signal);
  }

  /** Gives the place to the next in line, or frees it. */
  #give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** Locks by name. Who waits is served in the order of asking. */
export class Locks {
  /** Who waits for each lock that is taken, in order. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Who has each lock. */
  readonly #holders = new Map<string, string>();

  /** Who has a lock, if it is taken and its holder has a name. */
  findHolder(name: string): string | undefined {
    return this.#holders.get(name);
  }

  isTaken(name: string): boolean {
    return this.#waiting.has(name);
  }

  isAwaited(name: string): boolean {
    return (this.#waiting.get(name)?.size ?? 0) > 0;
  }

  /**
   * Waits for a lock. The caller gives it on by disposing of it, exactly once.
   *
   * @param holder Who takes it. @default {it has no name}
   * @throws `signal.reason` when the signal aborts first
   */
  async take(name: string, signal: AbortSignal, holder?: string): Promise<Disposable> {
    signal.throwIfAborted();
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, new Set());
    else await untilServed(waiting, signal);
    if (holder !== undefined) this.#holders.set(name, holder);
    return { [Symbol.dispose]: () => this.#give(name) };
  }

  #give(name: string): void {
    const waiting = this.#waiting.get(name) ?? new Set();
    const [next] = waiting;
    this.#holders.delete(name);
    if (next === undefined) this.#waiting.delete(name);
    else next();
  }
}

function untilServed(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const serve = (): void => {
      waiting.delete(serve);
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const abort = (): void => {
      waiting.delete(serve);
      reject(signal.reason);
    };
    waiting.add(serve);
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** What {@linkcode forEachAtOnce} needs. */
interface AtOnceOptions {
  /** How many items are worked on at once. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
}

/**
 * Works on all items, in their order, a few at once. Ends when all work has ended. After the first error the signal of
 * the other work aborts, no more is started, and the error is thrown.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  { atOnce, signal }: AtOnceOptions,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const left = [...items].values();
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const errors: unknown[] = [];
  const workOff = async (): Promise<void> => {
    for (const item of left) {
      if (both.aborted) return;
      await work(item, both);
    }
  };
  const stop = (error: unknown): void => {
    errors.push(error);
    failed.abort(error);
  };
  await Promise.all(Array.from({ length: atOnce }, () => workOff().catch(stop)));
  if (errors.length > 0) throw errors[0];
  signal.throwIfAborted();
}

/** As {@linkcode forEachAtOnce}. @returns What came of each item, in their order */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  options: AtOnceOptions,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await forEachAtOnce(items.entries(), options, async ([at, item], signal) => {
    results[at] = await work(item, signal);
  });
  return results;
}
