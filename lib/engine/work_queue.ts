/**
 * A queue of keys for several workers: one worker on a key at a time, no update lost, equal keys merged. Its
 * metrics are those of client-go.
 * @module
 */
import { type Clock, toBackoffMs } from "../core/clock.ts";
import { assert } from "../core/errors.ts";
import type { Counter, Gauge, Histogram, MetricsRegistry } from "../core/metrics.ts";

/** Metrics that all loops of a process share. The label `name` tells the queues apart, `controller` the reconciles. */
export interface LoopMetrics {
  /** Reconciles that ended. */
  readonly reconciles: Counter;
  /** Keys that wait for a worker. */
  readonly depth: Gauge;
  /** Added keys, without those that were waiting already. */
  readonly adds: Counter;
  /** Keys delayed to a later time. */
  readonly retries: Counter;
  /** Seconds from taken in to handed out. */
  readonly queueDuration: Histogram;
  /** Seconds from handed out to done. */
  readonly workDuration: Histogram;
}

const BUCKETS: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

/**
 * Registers the metrics of loops. Call it once for a registry and hand the result to every loop.
 *
 * Names and buckets of those of queues are those of client-go's `workqueue` package
 * (k8s.io/component-base/metrics/prometheus/workqueue).
 */
export function createLoopMetrics(registry: MetricsRegistry): LoopMetrics {
  return {
    reconciles: registry.counter({
      name: "landfall_reconciles_total",
      help: "Reconciles that ended, by controller and outcome.",
    }),
    depth: registry.gauge({ name: "workqueue_depth", help: "Keys that wait in the queue." }),
    adds: registry.counter({ name: "workqueue_adds_total", help: "Keys added to the queue." }),
    retries: registry.counter({
      name: "workqueue_retries_total",
      help: "Keys delayed to a later time.",
    }),
    queueDuration: registry.histogram({
      name: "workqueue_queue_duration_seconds",
      help: "Seconds a key waited in the queue.",
      buckets: BUCKETS,
    }),
    workDuration: registry.histogram({
      name: "workqueue_work_duration_seconds",
      help: "Seconds the work on a key took.",
      buckets: BUCKETS,
    }),
  };
}

/** Options of a {@linkcode WorkQueue}. */
interface WorkQueueOptions {
  /** Label `name` of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: LoopMetrics;
  /** Delay after the first failure of a key, in milliseconds; it doubles up to 5 min. @default {1_000} */
  readonly backoffMs?: number | undefined;
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

interface Waiter {
  give(key: string | undefined): void;
}

/** Delays of {@linkcode WorkQueue.addRateLimited}: 1 s, 2 s, 4 s … 5 min, each up to a fifth longer. */
const BACKOFF_MS = 1_000;
const RETRY_BACKOFF = { capMs: 300_000, jitter: 0.2 } as const;

/**
 * Keys to work on.
 *
 * Guarantees: at most one worker has a key. A key that is added while a worker has it is handed out again afterwards. A
 * key that is added many times while it waits is handed out once. The order is first in, first out. A delayed key is
 * kept once, with the earlier time.
 *
 * Assumption: a worker that gets a key always calls {@linkcode WorkQueue.done} for it.
 */
export class WorkQueue {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #metrics: LoopMetrics;
  readonly #backoffMs: number;
  readonly #random: () => number;
  /** Keys in the order they are handed out. A set: taking the first costs the same for any number of keys. */
  readonly #queue = new Set<string>();
  /** Keys that need work, and since when. Those that are not in `#queue` are being worked on. */
  readonly #dirty = new Map<string, number>();
  /** Keys that a worker holds, and since when. */
  readonly #processing = new Map<string, number>();
  /** Keys to add later, and when (monotonic milliseconds). */
  readonly #delayed = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  /** One timer for all delayed keys: it is never later than the first of them. */
  #alarm: { readonly dueMs: number; readonly cancel: AbortController } | undefined;
  #shutDown = false;

  constructor(options: WorkQueueOptions) {
    const { name, clock, metrics, backoffMs = BACKOFF_MS, random = Math.random } = options;
    this.#name = name;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#backoffMs = backoffMs;
    this.#random = random;
    metrics.depth.set(0, { name });
  }

  /** How many keys wait for a worker. */
  get size(): number {
    return this.#queue.size;
  }

  /** How often in a row this key failed: calls of `addRateLimited` since the last `forget`. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Milliseconds until a delayed key is added; absent when the key is not delayed. */
  remainingMs(key: string): number | undefined {
    const dueMs = this.#delayed.get(key);
    return dueMs === undefined ? undefined : Math.max(0, dueMs - this.#clock.monotonic());
  }

  /** Adds a key now. A pending delay of the key is dropped. */
  add(key: string): void {
    if (this.#shutDown) return;
    this.#delayed.delete(key);
    if (this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#clock.monotonic());
    this.#metrics.adds.inc({ name: this.#name });
    if (!this.#processing.has(key)) this.#push(key);
  }

  /** Adds a key in `ms` milliseconds, or when an earlier delay of the same key ends. 0 or less adds it now. */
  addAfter(key: string, ms: number): void {
    if (this.#shutDown) return;
    if (!(ms > 0)) return this.add(key);
    this.#metrics.retries.inc({ name: this.#name });
    const dueMs = this.#clock.monotonic() + ms;
    const pendingMs = this.#delayed.get(key);
    if (pendingMs !== undefined && pendingMs <= dueMs) return;
    this.#delayed.set(key, dueMs);
    this.#arm(dueMs);
  }

  /**
   * Counts a failure of the key and adds it after its back-off: {@linkcode WorkQueueOptions.backoffMs}, doubled with
   * each further failure up to 5 min, plus jitter. A delay from before the failure is dropped.
   */
  addRateLimited(key: string): void {
    if (this.#shutDown) return;
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    this.#delayed.delete(key);
    const backoff = { ...RETRY_BACKOFF, baseMs: this.#backoffMs, random: this.#random };
    this.addAfter(key, toBackoffMs(failures, backoff));
  }

  /** Forgets the failures of a key, after a success or when the key is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Waits for a key and hands it to the caller, who then holds it until {@linkcode WorkQueue.done}.
   *
   * @returns The key, or `undefined` once the queue is shut down and empty
   * @throws `signal.reason` when the signal aborts first; no key is lost then
   */
  get(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.reject(signal.reason);
    for (const key of this.#queue) return Promise.resolve(this.#take(key));
    if (this.#shutDown) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        give: (key) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener("abort", abort);
          resolve(key);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Gives a key back. If it was added meanwhile, it goes to the end of the queue. */
  done(key: string): void {
    const startedMs = this.#processing.get(key);
    assert(startedMs !== undefined, `Cannot end work on "${key}": no worker holds it`);
    this.#processing.delete(key);
    const seconds = (this.#clock.monotonic() - startedMs) / 1_000;
    this.#metrics.workDuration.observe(seconds, { name: this.#name });
    if (this.#dirty.has(key)) this.#push(key);
  }

  /** Takes no more keys and drops the delayed ones; those that wait are still handed out. */
  shutDown(): void {
    this.#shutDown = true;
    this.#delayed.clear();
    this.#alarm?.cancel.abort();
    this.#alarm = undefined;
    for (const waiter of this.#waiters) waiter.give(undefined);
  }

  #push(key: string): void {
    this.#queue.add(key);
    // If workers wait, no other key does, so this key goes to them.
    for (const waiter of this.#waiters) return waiter.give(this.#take(key));
    this.#metrics.depth.set(this.#queue.size, { name: this.#name });
  }

  #take(key: string): string {
    const addedMs = this.#dirty.get(key);
    assert(addedMs !== undefined, `Cannot hand out "${key}": it needs no work`);
    assert(!this.#processing.has(key), `Cannot hand out "${key}": a worker holds it`);
    const nowMs = this.#clock.monotonic();
    this.#queue.delete(key);
    this.#dirty.delete(key);
    this.#processing.set(key, nowMs);
    this.#metrics.depth.set(this.#queue.size, { name: this.#name });
    this.#metrics.queueDuration.observe((nowMs - addedMs) / 1_000, { name: this.#name });
    return key;
  }

  /** Makes sure that the timer fires at `dueMs` or before. */
  #arm(dueMs: number): void {
    if (this.#alarm !== undefined && this.#alarm.dueMs <= dueMs) return;
    this.#alarm?.cancel.abort();
    const alarm = { dueMs, cancel: new AbortController() };
    this.#alarm = alarm;
    this.#clock.sleep(dueMs - this.#clock.monotonic(), alarm.cancel.signal).then(
      () => this.#ring(alarm),
      () => undefined, // cancelled: an earlier timer replaced it, or nothing waits
    );
  }

  #ring(alarm: object): void {
    if (this.#alarm !== alarm) return;
    this.#alarm = undefined;
    const nowMs = this.#clock.monotonic();
    let nextMs = Infinity;
    for (const [key, dueMs] of [...this.#delayed].sort(([, a], [, b]) => a - b)) {
      if (dueMs <= nowMs) this.add(key);
      else nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs < Infinity) this.#arm(nextMs);
  }
}
