/**
 * Keeps the one inventory that all controllers use up to date: refreshes it at intervals and on request, keeps the last
 * good one, and reports its age.
 * @module
 */
import { CloudError } from "../errors.ts";
import { diffInventories, hasOtherCoverage, type Inventory, mergeInstances } from "./inventory.ts";
import type { Instance, NodeIdentity } from "../instance.ts";
import type { ChangeHint, Provider } from "../provider.ts";
import { type Clock, Sleeper, toBackoffMs } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";

/** What an {@linkcode InventorySource} needs. */
interface InventorySourceOptions {
  readonly provider: Provider;
  /** The Nodes to look for, read before each refresh. */
  readonly interest: () => readonly NodeIdentity[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/**
 * Called after each refresh, and if instances that were read one by one differ.
 *
 * @param changed The cloud IDs that differ; none if the refresh failed; `everything` after the first refresh with new
 * settings, and when a part of the cloud is lost or answers again: either may change the result for every Node
 * @param hasRecovered Whether this refresh succeeded after one that failed
 */
export type InventoryListener = (changed: ChangeHint, hasRecovered: boolean) => void;

/** Minimum time between the starts of two refreshes, so that a thousand Nodes at once cause only one. */
const REFRESH_GAP_MS = 1_000;
/** The same if only hints requested the refresh. */
const HINT_GAP_MS = 2_000;
/** Hints come in groups. After the first hint, wait this long for the others. */
const HINT_SETTLE_MS = 100;
/** How long the first refresh waits until the source follows the cloud. */
const FOLLOW_MS = 500;
/** Minimum time between the starts of two reads of single instances. */
const READ_GAP_MS = 500;
/** More machines do not vanish before Landfall decides about their Nodes. */
const VANISHED_MAX = 100;
const NONE: ReadonlyMap<string, Instance> = new Map();
const BACKOFF = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 };

/**
 * Holds the inventory of the process.
 *
 * Guarantees: only one refresh runs at a time. A failed refresh changes only the age and `lastError`. Listeners are
 * called after every refresh, also after a failed one, and an error of a listener does not stop the source.
 *
 * If a hint names a few instances, the source reads them at once. Otherwise it soon refreshes everything. Instances
 * that were read one by one replace those in the inventory in use; its age, coverage and missing instances stay,
 * because only a refresh can show that something is missing.
 */
export class InventorySource {
  readonly #options: InventorySourceOptions;
  readonly #listeners = new Set<InventoryListener>();
  readonly #refreshes: Counter;
  readonly #hinted: Counter;
  readonly #hints = new ChangeHints();
  /** The source acts on hints from this time on, in monotonic milliseconds. */
  #hintsReadyMs = -Infinity;
  #lastReadMs = -Infinity;
  #current: Inventory | undefined;
  #vanished: ReadonlyMap<string, Instance> = NONE;
  #lastError: Error | undefined;
  #lastAttemptMs: number | undefined;
  #lastDurationMs: number | undefined;
  #failures = 0;
  readonly #sleeper: Sleeper;
  #requested = false;
  /** Whether the requested refresh is the first with new settings, and so does not wait for the back-off. */
  #isForNewSettings = false;
  /** Whether settings changed since the start of the last refresh that succeeded. */
  #hasNewSettings = false;
  #revision = 0;
  /** Whether the cloud gave a hint, or said that it can give none. */
  #isFollowing = false;

  constructor(options: InventorySourceOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    this.#sleeper = new Sleeper(clock);
    this.#refreshes = metrics.counter({
      name: "landfall_inventory_refreshes_total",
      help: "Inventories requested from the cloud, by result.",
    });
    this.#hinted = metrics.counter({
      name: "landfall_change_hints_total",
      help: "Hints from the cloud about changes that may affect a Node, by kind.",
    });
    exportInventory(this, metrics);
  }

  /** The last complete answer of the cloud; absent before the first. */
  get current(): Inventory | undefined {
    return this.#current;
  }

  /**
   * Instances that an earlier inventory showed and the newest one does not, by their cloud ID: gone, or no longer asked
   * for. Those of another cloud are not among them.
   */
  get vanished(): ReadonlyMap<string, Instance> {
    return this.#vanished;
  }

  /**
   * Increases if the result for any Node may have changed: after a different list, or new settings. Reads of single
   * instances do not change it.
   */
  get revision(): number {
    return this.#revision;
  }

  /** Why the last refresh failed; absent when it succeeded. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Start of the last refresh that ended, in monotonic milliseconds; absent before the first. */
  get lastAttemptMs(): number | undefined {
    return this.#lastAttemptMs;
  }

  /** Duration of the last successful refresh, in milliseconds. */
  get lastDurationMs(): number | undefined {
    return this.#lastDurationMs;
  }

  /** Milliseconds since the current inventory was observed; absent without one. */
  get ageMs(): number | undefined {
    if (this.#current === undefined) return undefined;
    return this.#options.clock.monotonic() - this.#current.observedAtMs;
  }

  /**
   * Requests a refresh soon. Several requests share the next one.
   *
   * @param isForNewSettings Whether settings changed, so that earlier failures and results no longer count
   */
  requestRefresh(isForNewSettings: boolean = false): void {
    this.#hasNewSettings ||= isForNewSettings;
    if (isForNewSettings) this.#revision += 1;
    // The loop already knows.
    if (this.#requested && (this.#isForNewSettings || !isForNewSettings)) return;
    this.#requested = true;
    this.#isForNewSettings ||= isForNewSettings;
    this.#sleeper.wake();
  }

  /** Calls `listener` after each refresh. Returns a function that ends the subscription. */
  subscribe(listener: InventoryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refreshes, and follows the cloud's hints, until the signal aborts; then returns. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#refreshAgain(signal), this.#follow(signal)]);
  }

  async #refreshAgain(signal: AbortSignal): Promise<void> {
    const { clock, provider } = this.#options;
    // What was listed before the cloud reports changes would have to be listed again.
    if (provider.changes) await this.#sleeper.sleep(FOLLOW_MS, signal);
    while (!signal.aborted) {
      this.#requested = false;
      this.#isForNewSettings = false;
      // The refresh that starts now covers all hints so far.
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
      if (!signal.aborted)
        log.error("Event stream failed; using only refreshes until a restart", { error });
    }
    this.#noteFollowing();
  }

  #noteFollowing(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#sleeper.wake();
  }

  #noteHint(hint: ChangeHint): void {
    const { provider, clock } = this.#options;
    this.#noteFollowing();
    const isOfNode = (id: string): boolean => this.#current?.lookedFor?.has(id) ?? true;
    const isFirst = this.#hints.isEmpty;
    if (!this.#hints.add(hint, isOfNode)) return;
    if (!provider.changes?.readInstances) this.#hints.add("everything", isOfNode);
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
      const isOther = hadNewSettings || hasOtherCoverage(this.#current, next);
      const changed = isOther ? "everything" : diffInventories(this.#current, next);
      if (isOther || next.instances !== this.#current?.instances) this.#revision += 1;
      this.#vanished = hadNewSettings ? NONE : this.#listVanished(next);
      this.#current = next;
      this.#lastDurationMs = clock.monotonic() - startedMs;
      this.#lastAttemptMs = startedMs;
      const hasRecovered = this.#failures > 0;
      if (hasRecovered) log.info("Cloud answers again", { failures: this.#failures });
      this.#failures = 0;
      this.#lastError = undefined;
      this.#refreshes.inc({ provider: provider.name, result: "ok" });
      this.#notifyListeners(changed, hasRecovered);
    } catch (error) {
      if (signal.aborted) return;
      this.#hasNewSettings ||= hadNewSettings;
      this.#lastAttemptMs = startedMs;
      this.#failures += 1;
      this.#lastError = error instanceof Error ? error : new Error(String(error));
      const result = error instanceof CloudError ? error.kind : "error";
      this.#refreshes.inc({ provider: provider.name, result });
      log.warn("Cannot take inventory", { failures: this.#failures, error });
      this.#notifyListeners(new Set(), false);
    }
  }

  #listVanished({ instances }: Inventory): ReadonlyMap<string, Instance> {
    const before = this.#current?.instances ?? instances;
    if (before === instances) return this.#vanished;
    const isGone = ([id]: [string, Instance]): boolean => !instances.has(id);
    const gone = [this.#vanished, before].flatMap((all) => all.entries().filter(isGone).toArray());
    return gone.length === 0 ? NONE : new Map(gone.slice(-VANISHED_MAX));
  }

  #notifyListeners(changed: ChangeHint, hasRecovered: boolean): void {
    for (const listener of this.#listeners) {
      try {
        listener(changed, hasRecovered);
      } catch (error) {
        this.#options.log.error("Inventory listener failed", { error: describeError(error) });
      }
    }
  }

  /** Returns when the next refresh is due: after the interval or the back-off, or sooner on request. */
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

  /** Milliseconds between two refreshes that were not requested. */
  #toPaceMs(): number {
    const { provider, random } = this.#options;
    const failing = this.#lastError;
    if (failing === undefined) return provider.refreshIntervalMs;
    // Landfall notices within one interval that the cloud answers again, however long it was away.
    const capMs = Math.min(BACKOFF.capMs, provider.refreshIntervalMs / (1 + BACKOFF.jitter));
    const shape = { ...BACKOFF, capMs, ...(random && { random }) };
    const asked = failing instanceof CloudError ? (failing.retryAfterMs ?? 0) : 0;
    return Math.max(toBackoffMs(this.#failures, shape), asked);
  }

  /** When to refresh because of a request or a hint. */
  #toWantedMs(startedMs: number): number {
    // While the cloud fails, only the back-off decides, even if a refresh was requested.
    if (this.#lastError && !this.#isForNewSettings) return Infinity;
    if (this.#requested) return startedMs + REFRESH_GAP_MS;
    if (this.#hints.due !== "everything") return Infinity;
    return Math.max(this.#hintsReadyMs, startedMs + HINT_GAP_MS);
  }

  /** When to read the instances that hints named; `Infinity` without any. */
  #toReadMs(): number {
    const isDue = !this.#hints.isEmpty && this.#hints.due !== "everything";
    if (!isDue || this.#lastError || this.#current === undefined) return Infinity;
    return Math.max(this.#hintsReadyMs, this.#lastReadMs + READ_GAP_MS);
  }

  /** Reads the instances that hints named. If the cloud does not show one of them, a refresh follows. */
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
      if (changed.size > 0) this.#notifyListeners(changed, false);
      if ([...due].every((id) => shown.has(id))) return;
    } catch (error) {
      if (signal.aborted) return;
      log.debug("Cannot read instances", { error });
    }
    this.#hints.add("everything", () => true);
  }
}

/** Registers the gauges. Each collection reads `source`. */
function exportInventory(source: InventorySource, metrics: MetricsRegistry): void {
  const age = metrics.gauge({
    name: "landfall_inventory_age_seconds",
    help: "Seconds since the inventory in use was observed; absent before the first.",
  });
  const covered = metrics.gauge({
    name: "landfall_inventory_covered",
    help: "1 when a part of the cloud (a pool, a file) answered in full, else 0.",
  });
  metrics.onCollect(() => {
    const { current, ageMs } = source;
    if (ageMs !== undefined) age.set(ageMs / 1_000);
    covered.clear();
    for (const [part, { complete }] of current?.coverage ?? []) {
      covered.set(complete ? 1 : 0, { part });
    }
  });
}

/** Maximum number of instances to read one by one. For more, a refresh reads everything. */
const IDS_MAX = 8;

/** Hints on which Landfall has not acted yet. Memory does not grow with their number. */
export class ChangeHints {
  readonly #ids = new Set<string>();
  #isEverything = false;

  /** Whether there are no hints. */
  get isEmpty(): boolean {
    return !this.#isEverything && this.#ids.size === 0;
  }

  /** The instances to read, at most eight; `everything` if there are more, or if anything may have changed. */
  get due(): ChangeHint {
    return this.#isEverything ? "everything" : new Set(this.#ids);
  }

  /**
   * Records a hint.
   *
   * @param isOfNode Whether an instance belongs to a Node; hints about other instances are ignored
   * @returns Whether this hint needs a read
   */
  add(hint: ChangeHint, isOfNode: (id: string) => boolean): boolean {
    if (hint === "everything") {
      this.#isEverything = true;
      return true;
    }
    const ids = [...hint].filter(isOfNode);
    for (const id of ids) {
      if (this.#isEverything) break;
      this.#ids.add(id);
      this.#isEverything = this.#ids.size > IDS_MAX;
    }
    return ids.length > 0;
  }

  /** Forgets all hints. Call it before a refresh, which reads everything. */
  clear(): void {
    this.#ids.clear();
    this.#isEverything = false;
  }
}
