/**
 * Keeps one inventory fresh for everybody: refreshes it on time and on request, keeps the last good one, tells its age.
 * @module
 */
import { toBackoffMs } from "../../core/backoff.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";
import { Sleeper } from "../../core/sleeper.ts";
import { ChangeHints } from "./change_hints.ts";
import { CloudError } from "../errors.ts";
import { diffInventories, type Inventory, mergeInstances } from "./inventory.ts";
import { exportInventory } from "./metrics.ts";
import type { ChangeHint, NodeIdentity, Provider } from "../provider.ts";

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
 * Told after each refresh, and when a few instances that were read by themselves differ.
 *
 * @param changed The cloud IDs that differ; none when the refresh failed; `everything` at the first by new settings,
 * which may judge every Node in another way
 * @param hasRecovered Whether it succeeded after one that failed
 */
export type InventoryListener = (changed: ChangeHint, hasRecovered: boolean) => void;

/** Least time between the starts of two refreshes, so that a thousand Nodes at once cost one. */
const REFRESH_GAP_MS = 1_000;
/** The same for refreshes that are asked for by hints alone. */
const HINT_GAP_MS = 2_000;
/** Hints come in swarms: so long is waited for the others after the first. */
const HINT_SETTLE_MS = 100;
/** Least time between the starts of two reads of a few instances. */
const READ_GAP_MS = 500;
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 };

/**
 * The only holder of the inventory.
 *
 * Guarantees: one refresh at a time; a failed one changes nothing but the age and `lastError`; listeners are told after
 * every refresh, failed ones too, and cannot break it.
 *
 * Where the cloud hints at changes, what a hint names is read at once, or everything soon. What was read by itself is
 * put into the inventory in use, whose age, coverage and gaps stay: nothing goes missing but by a refresh.
 */
export class InventorySource {
  readonly #options: InventorySourceOptions;
  readonly #listeners = new Set<InventoryListener>();
  readonly #refreshes: Counter;
  readonly #hinted: Counter;
  readonly #hints = new ChangeHints();
  /** Not before this is acted on hints, in monotonic milliseconds. */
  #hintsReadyMs = -Infinity;
  #lastReadMs = -Infinity;
  #current: Inventory | undefined;
  #lastError: Error | undefined;
  #lastAttemptMs: number | undefined;
  #lastDurationMs: number | undefined;
  #failures = 0;
  readonly #sleeper: Sleeper;
  #requested = false;
  /** Whether what the cloud said of itself so far, such as that it is in trouble, counts no more. */
  #isAnew = false;
  /** Whether settings changed since the start of the last refresh that succeeded. */
  #hasNewSettings = false;
  #revision = 0;

  constructor(options: InventorySourceOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    this.#sleeper = new Sleeper(clock);
    this.#refreshes = metrics.counter({
      name: "landfall_inventory_refreshes_total",
      help: "Inventories asked of the cloud, by result.",
    });
    this.#hinted = metrics.counter({
      name: "landfall_change_hints_total",
      help: "Hints of the cloud that something changed that a Node may depend on, by kind.",
    });
    exportInventory(this, metrics);
  }

  /** The last complete answer of the cloud; absent until there was one. */
  get current(): Inventory | undefined {
    return this.#current;
  }

  /** Goes up when any instance may be another: by a list that differs, by new settings; not by a few read alone. */
  get revision(): number {
    return this.#revision;
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

  /**
   * Asks for a refresh soon; many share the next.
   *
   * @param isAnew Settings changed: failures of before count no more, nor does what was concluded from the instances
   */
  requestRefresh(isAnew: boolean = false): void {
    this.#hasNewSettings ||= isAnew;
    if (isAnew) this.#revision += 1;
    // Who sleeps knows already.
    if (this.#requested && (this.#isAnew || !isAnew)) return;
    this.#requested = true;
    this.#isAnew ||= isAnew;
    this.#sleeper.wake();
  }

  /** Calls `listener` after each refresh. Returns what ends that. */
  subscribe(listener: InventoryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refreshes, and follows the cloud's hints, until the signal aborts; then returns. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#refreshAgain(signal), this.#follow(signal)]);
  }

  async #refreshAgain(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#requested = false;
      this.#isAnew = false;
      // What was hinted at before shows in what is asked for now.
      this.#hints.clear();
      const startedMs = clock.monotonic();
      await this.#refresh(signal);
      await this.#wait(startedMs, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { provider, log } = this.#options;
    try {
      await provider.changes?.watchChanges((hint) => this.#noteHint(hint), signal);
    } catch (error) {
      if (!signal.aborted) log.error("Changes are only seen by asking from now on", { error });
    }
  }

  #noteHint(hint: ChangeHint): void {
    const { provider, clock } = this.#options;
    const isCaredFor = (id: string): boolean => this.#current?.lookedFor?.has(id) ?? true;
    const isFirst = this.#hints.isEmpty;
    if (!this.#hints.add(hint, isCaredFor)) return;
    if (!provider.changes?.readInstances) this.#hints.add("everything", isCaredFor);
    const kind = hint === "everything" ? "everything" : "instances";
    this.#hinted.inc({ provider: provider.name, kind });
    if (isFirst) this.#hintsReadyMs = clock.monotonic() + HINT_SETTLE_MS;
    this.#sleeper.wake();
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { provider, interest, clock, log } = this.#options;
    const startedMs = clock.monotonic();
    const hadNewSettings = this.#hasNewSettings;
    this.#hasNewSettings = false;
    try {
      const next = await provider.listInventory(interest(), signal);
      const changed = hadNewSettings ? "everything" : diffInventories(this.#current, next);
      if (hadNewSettings || next.instances !== this.#current?.instances) this.#revision += 1;
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
      this.#hasNewSettings ||= hadNewSettings;
      this.#lastAttemptMs = startedMs;
      this.#failures += 1;
      this.#lastError = error instanceof Error ? error : new Error(String(error));
      const kind = error instanceof CloudError ? error.kind : "error";
      this.#refreshes.inc({ provider: provider.name, result: kind });
      log.warn("Cannot take inventory", { kind, failures: this.#failures, error });
      this.#tell(new Set(), false);
    }
  }

  #tell(changed: ChangeHint, hasRecovered: boolean): void {
    for (const listener of this.#listeners) {
      try {
        listener(changed, hasRecovered);
      } catch (error) {
        this.#options.log.error("Inventory listener failed", { error: describeError(error) });
      }
    }
  }

  /** Returns when the next refresh is due: the interval or the back-off, or sooner on request. */
  async #wait(startedMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const latestMs = startedMs + this.#toPaceMs();
    while (!signal.aborted) {
      const refreshAtMs = Math.min(latestMs, this.#toWantedMs(startedMs));
      const nowMs = clock.monotonic();
      if (nowMs >= refreshAtMs) return;
      const readAtMs = this.#toReadMs();
      if (nowMs >= readAtMs) await this.#readFew(signal);
      else await this.#sleeper.sleep(Math.min(refreshAtMs, readAtMs) - nowMs, signal);
    }
  }

  /** Milliseconds between two refreshes that nobody asked for. */
  #toPaceMs(): number {
    const { provider, random } = this.#options;
    const failing = this.#lastError;
    if (failing === undefined) return provider.refreshIntervalMs;
    // A cloud that answers again is noticed within one interval, however long it did not.
    const capMs = Math.min(BACKOFF.capMs, provider.refreshIntervalMs / (1 + BACKOFF.jitter));
    const shape = { ...BACKOFF, capMs, ...(random && { random }) };
    const asked = failing instanceof CloudError ? (failing.retryAfterMs ?? 0) : 0;
    return Math.max(toBackoffMs(this.#failures, shape), asked);
  }

  /** When to refresh because somebody asked for it, or a hint did. */
  #toWantedMs(startedMs: number): number {
    // A cloud in trouble is asked at the pace of the back-off, whoever is in a hurry.
    if (this.#lastError && !this.#isAnew) return Infinity;
    if (this.#requested) return startedMs + REFRESH_GAP_MS;
    if (this.#hints.due !== "everything") return Infinity;
    return Math.max(this.#hintsReadyMs, startedMs + HINT_GAP_MS);
  }

  /** When to read the few instances that were hinted at; never when there are none. */
  #toReadMs(): number {
    const isDue = !this.#hints.isEmpty && this.#hints.due !== "everything";
    if (!isDue || this.#lastError || this.#current === undefined) return Infinity;
    return Math.max(this.#hintsReadyMs, this.#lastReadMs + READ_GAP_MS);
  }

  /** Reads what was hinted at. Whatever is then still open, a refresh settles. */
  async #readFew(signal: AbortSignal): Promise<void> {
    const { provider, clock, log } = this.#options;
    const { due } = this.#hints;
    this.#hints.clear();
    this.#lastReadMs = clock.monotonic();
    if (due === "everything" || this.#current === undefined) return;
    try {
      const shown =
        (await provider.changes?.readInstances?.(due, signal)) ?? new Map<string, never>();
      const { inventory, changed } = mergeInstances(this.#current, shown);
      this.#current = inventory;
      if (changed.size > 0) this.#tell(changed, false);
      if ([...due].every((id) => shown.has(id))) return;
    } catch (error) {
      if (signal.aborted) return;
      log.debug("Cannot read instances", { error });
    }
    this.#hints.add("everything", () => true);
  }
}
