/**
 * Keeps one inventory fresh for everybody: refreshes it on time and on request, keeps the last good one, tells its age.
 * @module
 */
import { toBackoffMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { describeError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Counter, MetricsRegistry } from "../core/metrics.ts";
import { CloudError } from "./errors.ts";
import { diffInventories, type Inventory } from "./inventory.ts";
import type { NodeIdentity, Provider } from "./provider.ts";

/** What an {@linkcode InventorySource} is made of. */
export interface InventorySourceOptions {
  readonly provider: Provider;
  /** The Nodes that are cared about, asked before each refresh. */
  readonly interest: () => readonly NodeIdentity[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/**
 * Told after each refresh.
 *
 * @param changed The cloud IDs that differ; none when the refresh failed
 * @param hasRecovered Whether it succeeded after one that failed
 */
export type InventoryListener = (changed: ReadonlySet<string>, hasRecovered: boolean) => void;

/** Least time between the starts of two refreshes, so that a thousand Nodes at once cost one. */
const REFRESH_GAP_MS = 1_000;
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 };

/**
 * The only holder of the inventory.
 *
 * Guarantees: one refresh at a time; a failed one changes nothing but the age and `lastError`; listeners are told after
 * every refresh, failed ones too, and cannot break it.
 */
export class InventorySource {
  readonly #options: InventorySourceOptions;
  readonly #listeners = new Set<InventoryListener>();
  readonly #refreshes: Counter;
  #current: Inventory | undefined;
  #lastError: Error | undefined;
  #lastAttemptMs: number | undefined;
  #lastDurationMs: number | undefined;
  #failures = 0;
  #wake: (() => void) | undefined;
  #requested = false;

  constructor(options: InventorySourceOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#refreshes = metrics.counter({
      name: "landfall_inventory_refreshes_total",
      help: "Inventories asked of the cloud, by result.",
    });
    this.#exportState(metrics);
  }

  /** The last complete answer of the cloud; absent until there was one. */
  get current(): Inventory | undefined {
    return this.#current;
  }

  /** Why the last refresh failed; absent when it succeeded. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** When the last refresh began, in monotonic milliseconds; absent before the first ended. */
  get lastAttemptMs(): number | undefined {
    return this.#lastAttemptMs;
  }

  /** How long the last successful refresh took, in milliseconds. */
  get lastDurationMs(): number | undefined {
    return this.#lastDurationMs;
  }

  /** Milliseconds since the current inventory was observed; absent without one. */
  get ageMs(): number | undefined {
    if (this.#current === undefined) return undefined;
    return this.#options.clock.monotonic() - this.#current.observedAtMs;
  }

  /** Asks for a refresh soon. Requests that come while one is due, or under way, share the next. */
  requestRefresh(): void {
    this.#requested = true;
    this.#wake?.();
  }

  /** Calls `listener` after each refresh. Returns what ends that. */
  subscribe(listener: InventoryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refreshes until the signal aborts; then returns. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#requested = false;
      const startedMs = clock.monotonic();
      await this.#refresh(signal);
      await this.#wait(startedMs, signal).catch(() => undefined);
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { provider, interest, clock, log } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const next = await provider.listInventory(interest(), signal);
      const changed = diffInventories(this.#current, next);
      this.#current = next;
      this.#lastDurationMs = clock.monotonic() - startedMs;
      this.#lastAttemptMs = startedMs;
      const hasRecovered = this.#failures > 0;
      if (hasRecovered) log.info("Cloud answers again", { failures: this.#failures });
      this.#failures = 0;
      this.#lastError = undefined;
      this.#refreshes.inc({ provider: provider.name, result: "ok" });
      this.#tell(changed, hasRecovered);
    } catch (error) {
      if (signal.aborted) return;
      this.#lastAttemptMs = startedMs;
      this.#failures += 1;
      this.#lastError = error instanceof Error ? error : new Error(String(error));
      const kind = error instanceof CloudError ? error.kind : "error";
      this.#refreshes.inc({ provider: provider.name, result: kind });
      log.warn("Cannot take inventory", { kind, failures: this.#failures, error });
      this.#tell(new Set(), false);
    }
  }

  #tell(changed: ReadonlySet<string>, hasRecovered: boolean): void {
    for (const listener of this.#listeners) {
      try {
        listener(changed, hasRecovered);
      } catch (error) {
        this.#options.log.error("Inventory listener failed", { error: describeError(error) });
      }
    }
  }

  /** Sleeps until the next refresh is due: the interval or the back-off, or sooner on request. */
  async #wait(startedMs: number, signal: AbortSignal): Promise<void> {
    const { provider, random } = this.#options;
    const failing = this.#lastError;
    // A cloud that answers again is noticed within one interval, however long it did not.
    const capMs = Math.min(BACKOFF.capMs, provider.refreshIntervalMs / (1 + BACKOFF.jitter));
    const shape = { ...BACKOFF, capMs, ...(random && { random }) };
    const backoffMs = toBackoffMs(this.#failures, shape);
    const asked = failing instanceof CloudError ? (failing.retryAfterMs ?? 0) : 0;
    const dueMs = failing ? Math.max(backoffMs, asked) : provider.refreshIntervalMs;
    // A cloud in trouble is asked at the pace of the back-off, whoever is in a hurry.
    const soonestMs = failing ? dueMs : REFRESH_GAP_MS;
    await this.#sleepUntil(startedMs + Math.min(soonestMs, dueMs), signal);
    if (this.#requested) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    try {
      await this.#sleepUntil(startedMs + dueMs, AbortSignal.any([signal, woken.signal]));
    } finally {
      this.#wake = undefined;
    }
  }

  #sleepUntil(atMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return clock.sleep(atMs - clock.monotonic(), signal);
  }

  #exportState(metrics: MetricsRegistry): void {
    const age = metrics.gauge({
      name: "landfall_inventory_age_seconds",
      help: "Seconds since the inventory in use was observed; absent before the first.",
    });
    const covered = metrics.gauge({
      name: "landfall_inventory_covered",
      help: "1 when a part of the cloud (a pool, a file) answered in full, else 0.",
    });
    metrics.onCollect(() => {
      const ageMs = this.ageMs;
      if (ageMs !== undefined) age.set(ageMs / 1_000);
      covered.clear();
      for (const [part, { complete }] of this.#current?.coverage ?? []) {
        covered.set(complete ? 1 : 0, { part });
      }
    });
  }
}
