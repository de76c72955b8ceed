/**
 * Keeps a store equal to the API server: lists, watches, and lists again when events may be missing. A pure function
 * decides each next step.
 * @module
 */
import { type Clock, Sleeper, toBackoffMs, toTimeoutError } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, Gauge, MetricsRegistry } from "../../core/metrics.ts";
import type { KubeClient, ListPage, ListQuery, Selection, WatchEvent } from "../api/client.ts";
import { isKubeError, KubeError, parseStatus, toKubeError } from "../api/errors.ts";
import type { Recovery } from "../api/request.ts";
import { findDamage, type Kind, type KubeObject, type Resource } from "../kinds/resource.ts";
import type { Store } from "./store.ts";
import { formatDuration, isFields } from "../../core/text/values.ts";

/** What {@linkcode runWatcher} needs. */
export interface WatcherOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Kind<T>;
  /** Which objects of the kind. @default {all of them} */
  readonly selection?: Selection;
  /** Only this watcher writes to it. */
  readonly store: Store<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: WatcherMetrics;
  /** Randomness of back-off and watch durations, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
  /** Ends pauses after failures, except those that the server asked for. Ends watches that may be silent. */
  readonly recovery?: Recovery;
  /** Called after each failure: whether the kind itself is gone, which ends the watcher. @default {it never is} */
  readonly isAway?: (error: unknown, signal: AbortSignal) => Promise<boolean>;
}

/** Metrics that all watchers of a process share; the label `resource` tells them apart. */
export interface WatcherMetrics {
  readonly restarts: Counter;
  readonly lastEvent: Gauge;
  readonly stubs: Gauge;
}

const WATCH_GAP_MS = 1_000;
/** Objects in one page of a list. */
const PAGE_SIZE = 500;
const OUTDATED: WatcherOutcome = { kind: "outdated" };

/** Registers the metrics of watchers. Call it once for a registry and hand the result to every watcher. */
export function createWatcherMetrics(registry: MetricsRegistry): WatcherMetrics {
  return {
    restarts: registry.counter({
      name: "landfall_watch_restarts_total",
      help: "Watches and lists that were started again, by resource and reason.",
    }),
    lastEvent: registry.gauge({
      name: "landfall_watch_last_event_timestamp_seconds",
      help: "When the API server last sent data about a resource, in Unix seconds.",
    }),
    stubs: registry.gauge({
      name: "landfall_cache_stubs",
      help: "Objects that are kept only in part, because they or others of their namespace are too large, by resource.",
    }),
  };
}

/**
 * Runs until the signal aborts or its kind is gone; then returns. No other failure ends it, and none makes it spin. It
 * opens a watch at most once a second. After failures it waits 0.8 s to 60 s, or until another part of the process
 * finds that the server is back. It opens a watch again over a new connection if the watch is silent for 40 s, or if it
 * has no recent data and another connection turned out to be silent.
 *
 * It follows client-go's reflector (k8s.io/client-go/tools/cache), without streaming lists.
 */
export async function runWatcher<T extends KubeObject>(
  options: WatcherOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random = Math.random } = options;
  const backoff = new RestartBackoff(random);
  let state = FIRST_STATE;
  while (!signal.aborted) {
    const openedMs = clock.monotonic();
    const outcome = await runPhase(options, state, signal);
    if (signal.aborted) return;
    if (outcome.kind === "failed" && (await options.isAway?.(outcome.error, signal))) return;
    const step = toNextStep(state, outcome);
    const pauseMs = toPauseMs(step, outcome, clock.monotonic() - openedMs, () =>
      backoff.next(clock.monotonic()),
    );
    report(options, state, step, outcome, pauseMs);
    state = step.state;
    const isOver = await pause(options, { pauseMs, isAsked: toAskedMs(outcome) > 0 }, signal);
    if (isOver) backoff.reset();
  }
}

async function runPhase<T extends KubeObject>(
  options: WatcherOptions<T>,
  state: WatcherState,
  signal: AbortSignal,
): Promise<WatcherOutcome> {
  const { outdated } = options.store;
  if (state.phase === "watch") {
    return outdated.aborted ? OUTDATED : watchOnce(options, state, signal);
  }
  try {
    return await listOnce(options, signal);
  } catch (error) {
    return { kind: "failed", events: 0, error };
  }
}

async function listOnce<T extends KubeObject>(
  options: WatcherOptions<T>,
  signal: AbortSignal,
): Promise<WatcherOutcome> {
  const { client, resource, selection, store, clock } = options;
  const askedMs = clock.monotonic();
  const query = { ...selection, limit: PAGE_SIZE };
  const { items, resourceVersion } = await listAll(client, resource, query, signal);
  store.replace(items, resourceVersion, askedMs);
  noteLife(options);
  return { kind: "listed", resourceVersion };
}

/** Follows one watch to its end. Every event that it stored counts, however the watch ends. */
async function watchOnce<T extends KubeObject>(
  options: WatcherOptions<T>,
  state: WatcherState,
  signal: AbortSignal,
): Promise<WatcherOutcome> {
  const { resourceVersion: from = "" } = state;
  const { client, resource, selection, clock, store, random = Math.random } = options;
  const openedMs = clock.monotonic();
  // From "" or "0" the server first replays existing objects in any order: that says nothing about progress.
  let replaying = from === "" || from === "0";
  let resourceVersion = from;
  let events = 0;
  const timeoutSeconds = toWatchSeconds(state, random);
  const query = { ...selection, resourceVersion: from, timeoutSeconds };
  const { outdated } = store;
  const silence = new WatchSilence(options, AbortSignal.any([signal, outdated]));
  try {
    for await (const event of client.watch(resource, query, silence.signal)) {
      silence.break();
      const version = takeEvent(options, event);
      events += 1;
      noteLife(options);
      replaying &&= event.type === "ADDED";
      if (version === undefined || replaying) continue;
      resourceVersion = version;
      if (event.type === "BOOKMARK") store.settle(version);
      else store.reach(version);
      store.checkAnswers();
    }
  } catch (error) {
    if (outdated.aborted && !signal.aborted) return OUTDATED;
    if (silence.isOver) return { kind: "silent", resourceVersion };
    return { kind: "failed", resourceVersion, events, error };
  } finally {
    silence.end();
    store.checkAnswers();
  }
  return { kind: "ended", resourceVersion, events, durationMs: clock.monotonic() - openedMs };
}

/**
 * Stores one event.
 *
 * @returns The version of the event; absent if it has none
 * @throws {KubeError} The error of an ERROR event, or an unreadable event. A change may then be missing, and only a
 * list shows it
 */
function takeEvent<T extends KubeObject>(
  { resource, store }: WatcherOptions<T>,
  { type, object }: WatchEvent,
): string | undefined {
  if (type === "ERROR") throw toStreamError(resource, object);
  if (type === "BOOKMARK") {
    return isFields(object) && object["kind"] === resource.kind ? toVersion(object) : undefined;
  }
  if (!isOfKind(resource, object)) throw toOddEvent(resource, "is about another kind");
  const version = toVersion(object);
  const damage = version === undefined ? "it has no version" : findDamage(resource, object);
  if (damage !== undefined) throw toOddEvent(resource, `is damaged: ${damage}`);
  if (type === "ADDED" || type === "MODIFIED") store.apply(object);
  else if (type === "DELETED") store.remove(object);
  else throw toOddEvent(resource, "has an unknown type");
  return version;
}

function toPauseMs(
  { pause }: WatcherStep,
  outcome: WatcherOutcome,
  sinceOpenedMs: number,
  toBackoff: () => number,
): number {
  if (pause === "none") return 0;
  if (pause === "gap") return Math.max(0, WATCH_GAP_MS - sinceOpenedMs);
  return Math.max(toBackoff(), toAskedMs(outcome));
}

/** The pause that the server asked for; 0 without one. */
function toAskedMs(outcome: WatcherOutcome): number {
  if (outcome.kind !== "failed" || !(outcome.error instanceof KubeError)) return 0;
  return outcome.error.retryAfterMs ?? 0;
}

/**
 * Ends after that time, when the signal aborts, or when the server is back; the last not if the server asked for the
 * pause.
 *
 * @returns Whether the server is back
 */
async function pause<T extends KubeObject>(
  { clock, recovery }: WatcherOptions<T>,
  { pauseMs, isAsked }: { readonly pauseMs: number; readonly isAsked: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const sleeper = new Sleeper(clock);
  const wake = (): void => sleeper.wake();
  // Waits at least as long as between two openings of a watch.
  const unsubscribe = pauseMs > WATCH_GAP_MS && !isAsked ? recovery?.subscribe(wake) : undefined;
  const isBack = await sleeper.sleep(pauseMs, signal);
  unsubscribe?.();
  return isBack;
}

function report<T extends KubeObject>(
  { resource, log, metrics }: WatcherOptions<T>,
  { phase }: WatcherState,
  { reason, state }: WatcherStep,
  outcome: WatcherOutcome,
  pauseMs: number,
): void {
  if (reason === undefined) return;
  metrics?.restarts.inc({ resource: resource.plural, reason });
  const fields = {
    resource: resource.plural,
    reason,
    next: state.phase,
    retryIn: formatDuration(Math.round(pauseMs)),
  };
  if (outcome.kind !== "failed") return log.debug("Watch ended", fields);
  const message = phase === "list" ? "Cannot list" : "Watch broke";
  log.warn(message, { ...fields, error: outcome.error });
}

function noteLife<T extends KubeObject>({ resource, clock, metrics }: WatcherOptions<T>): void {
  metrics?.lastEvent.set(clock.now() / 1_000, { resource: resource.plural });
}

/** The error of a Status object inside a stream. After anything else the stream cannot be trusted. */
function toStreamError(resource: Resource<KubeObject>, object: unknown): KubeError {
  const code = parseStatus(object)?.code ?? 500;
  const body = JSON.stringify(object) ?? "";
  return toKubeError(`watch "${resource.plural}"`, { code, body });
}

/** Unlike a broken stream, this counts as an answer with a code: watching from the last version would not help. */
function toOddEvent({ plural }: Resource<KubeObject>, what: string): KubeError {
  return new KubeError("unavailable", `Cannot watch "${plural}": an event ${what}`, { code: 200 });
}

function isOfKind<T extends KubeObject>(
  { kind, apiVersion }: Resource<T>,
  object: unknown,
): object is T {
  return isFields(object) && object["kind"] === kind && object["apiVersion"] === apiVersion;
}

function toVersion(object: unknown): string | undefined {
  const metadata = isFields(object) ? object["metadata"] : undefined;
  const version = isFields(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" && version !== "" ? version : undefined;
}

/** The state of a watcher between two requests. */
export interface WatcherState {
  readonly phase: "list" | "watch";
  /** Last version seen, opaque; absent before the first list. */
  readonly resourceVersion: string | undefined;
  /** How many watches in a row were opened at the same version and brought no data. */
  readonly idleRetries: number;
  /** The last watch had little data, or there was none. The next one is opened for a short piece. */
  readonly isQuiet: boolean;
}

/** How a request ended. `resourceVersion` is the last version that a watch reached. */
export type WatcherOutcome =
  | { readonly kind: "listed"; readonly resourceVersion: string }
  | {
      readonly kind: "ended";
      readonly resourceVersion: string;
      readonly events: number;
      readonly durationMs: number;
    }
  /** Landfall ended it because it was silent for too long. */
  | { readonly kind: "silent"; readonly resourceVersion: string }
  /** The store needs a list. */
  | { readonly kind: "outdated" }
  | {
      readonly kind: "failed";
      readonly resourceVersion?: string;
      readonly events: number;
      readonly error: unknown;
    };

/** The next request, and the pause before it. */
interface WatcherStep {
  readonly state: WatcherState;
  /** `none`: immediately · `gap`: at least a second after the last opening · `backoff`: by the number of failures. */
  readonly pause: "none" | "gap" | "backoff";
  /** Why a running watcher starts a request again, for logs and metrics; absent after a successful list. */
  readonly reason?: string;
}

/** The start: nothing is known. */
export const FIRST_STATE: WatcherState = {
  phase: "list",
  resourceVersion: undefined,
  idleRetries: 0,
  isQuiet: true,
};

/** If a watch without data ends sooner than this, it is an error. */
const WATCH_MS_MIN = 1_000;
/** After this many watches in a row without data, the version is suspect, and a list decides. */
const IDLE_RETRIES_MAX = 5;
/**
 * How many seconds a quiet watch stays open, and the random part of that. The server ends it in time, on a connection
 * that is then used again. This costs one small request, and proves that the connection is not silent.
 */
const QUIET_SECONDS = { least: 30, spread: 5 } as const;
/**
 * The same for any other watch: its data proves that the connection works. The random part keeps watches from ending at
 * the same time.
 */
const LONG_SECONDS = { least: 300, spread: 300 } as const;
/**
 * A watch with data less often than this, on average, is quiet. Eight times as long without data is silence. A watch
 * that ended sooner than a short piece proves nothing.
 */
const QUIET_MS_MIN = 5_000;
/** The pace of client-go's reflector: 0.8 s to 30 s, and jitter that doubles it at most. */
const BACKOFF = { baseMs: 800, capMs: 30_000, jitter: 1 } as const;
const BACKOFF_RESET_MS = 120_000;

/** How many seconds the server should keep the watch open. @param random In [0, 1) */
export function toWatchSeconds({ isQuiet }: WatcherState, random: () => number): number {
  const { least, spread } = isQuiet ? QUIET_SECONDS : LONG_SECONDS;
  return least + Math.floor(random() * spread);
}

/** Decides the next step after any outcome. Every cycle of steps has a pause. */
export function toNextStep(state: WatcherState, outcome: WatcherOutcome): WatcherStep {
  if (outcome.kind === "listed") return afterList(state, outcome);
  if (outcome.kind === "ended") return afterEnd(state, outcome);
  if (outcome.kind === "silent") return afterSilence(state, outcome);
  if (outcome.kind === "outdated") {
    const next = { ...state, phase: "list", idleRetries: 0 } as const;
    return { state: next, pause: "none", reason: "outdated" };
  }
  return state.phase === "list"
    ? { state, pause: "backoff", reason: toReason(outcome.error) }
    : afterWatchFailure(state, outcome);
}

function afterList(
  state: WatcherState,
  { resourceVersion }: Extract<WatcherOutcome, { kind: "listed" }>,
): WatcherStep {
  return { state: { ...state, phase: "watch", resourceVersion }, pause: "none" };
}

function afterEnd(
  state: WatcherState,
  { resourceVersion, events, durationMs }: Extract<WatcherOutcome, { kind: "ended" }>,
): WatcherStep {
  const next = { ...state, resourceVersion };
  if (events === 0 && durationMs < WATCH_MS_MIN) return retryWatch(next, "short");
  const isQuiet = events * QUIET_MS_MIN < Math.max(durationMs, QUIET_SECONDS.least * 1_000);
  return { state: { ...next, idleRetries: 0, isQuiet }, pause: "gap", reason: "ended" };
}

/** No failure: the server may have had no news, or the news is still in its cache. */
function afterSilence(
  state: WatcherState,
  { resourceVersion }: Extract<WatcherOutcome, { kind: "silent" }>,
): WatcherStep {
  const next = { ...state, resourceVersion, idleRetries: 0, isQuiet: true };
  return { state: next, pause: "gap", reason: "silent" };
}

function afterWatchFailure(
  state: WatcherState,
  outcome: Extract<WatcherOutcome, { kind: "failed" }>,
): WatcherStep {
  const { error, events, resourceVersion = state.resourceVersion } = outcome;
  const next = { ...state, resourceVersion, idleRetries: events > 0 ? 0 : state.idleRetries };
  const reason = toReason(error);
  if (isPassing(error)) return retryWatch(next, reason);
  return { state: { ...next, phase: "list", idleRetries: 0 }, pause: "backoff", reason };
}

/** Watches again at the same version. Nothing was lost, so no list is needed. */
function retryWatch(state: WatcherState, reason: string): WatcherStep {
  const idleRetries = state.idleRetries + 1;
  return idleRetries < IDLE_RETRIES_MAX
    ? { state: { ...state, idleRetries }, pause: "backoff", reason }
    : { state: { ...state, phase: "list", idleRetries: 0 }, pause: "backoff", reason };
}

/** No answer, a broken connection, or a busy server: the version may still be good. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.kind === "throttled" || (error.kind === "unavailable" && error.code === undefined);
}

function toReason(error: unknown): string {
  return error instanceof KubeError ? error.kind : "error";
}

/** Pauses after failures. They grow with each failure in a row, and start small again after two good minutes. */
export class RestartBackoff {
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param random Randomness of the jitter, in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Notes that the cause of the failures is gone. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure at this monotonic time. @returns The pause in milliseconds */
  next(nowMs: number): number {
    if (nowMs - this.#lastMs > BACKOFF_RESET_MS) this.#failures = 0;
    this.#lastMs = nowMs;
    this.#failures += 1;
    return toBackoffMs(this.#failures, { ...BACKOFF, random: this.#random });
  }
}

/**
 * How long a watch may be silent, in milliseconds. A quiet watch is opened for shorter pieces (see {@linkcode
 * toWatchSeconds}), and the server ends each piece. So a connection that is silent for longer passes no data any more.
 * A long watch with frequent data becomes silent when the cluster does; that costs one request.
 */
export const SILENCE_MS_MAX = 40_000;
/** After how much silence a watch is suspect if another connection was silent, in milliseconds. */
const DOUBT_MS_MIN = 5_000;

/**
 * Ends a watch that was silent for {@linkcode SILENCE_MS_MAX}, or for {@linkcode DOUBT_MS_MIN} if another connection
 * was silent and a new one works. One timer serves any amount of data: when it fires, it checks the time of the last
 * data.
 */
class WatchSilence {
  readonly #clock: Clock;
  readonly #silent = new AbortController();
  readonly #over = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  #heardMs: number;
  /** Aborts with the signal of the watcher, or with a `TimeoutError` when the watch has been silent for too long. */
  readonly signal: AbortSignal;

  /** @param signal Ends the watcher */
  constructor(
    { clock, recovery }: Pick<WatcherOptions<KubeObject>, "clock" | "recovery">,
    signal: AbortSignal,
  ) {
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

/** More than any cluster has (a million objects at 500 a page). Protects against a server that never ends. */
const PAGES_MAX = 2_000;

/**
 * Lists all objects, page by page. If a later page has expired (410), reads the list again in one piece.
 *
 * @param query Query of the first page
 * @returns The objects, and the version of the first page
 * @throws {KubeError} of the server; `unavailable` if the pages do not end, or form a circle
 */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  resource: Kind<T>,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Omit<ListPage<T>, "continue">> {
  const toError = (why: string, cause?: unknown): KubeError =>
    new KubeError("unavailable", `Cannot list "${resource.plural}": ${why}`, { cause });
  const first = await client.list(resource, query, signal);
  if (first.continue === undefined) return first;
  try {
    const items = [...first.items];
    const asked = new Set<string>();
    let next: string | undefined = first.continue;
    for (let pages = 1; next !== undefined; pages += 1) {
      if (pages >= PAGES_MAX) throw toError(`more than ${PAGES_MAX} pages`);
      if (asked.has(next)) throw toError("a page leads back to an earlier one");
      asked.add(next);
      const page: ListPage<T> = await client.list(resource, { ...query, continue: next }, signal);
      for (const item of page.items) items.push(item);
      next = page.continue;
    }
    return { items, resourceVersion: first.resourceVersion };
  } catch (error) {
    if (!isKubeError(error, "gone")) throw error;
    const { limit: _limit, ...inOnePiece } = query;
    const whole = await client.list(resource, inOnePiece, signal);
    if (whole.continue === undefined) return whole;
    throw toError("the answer to an unpaged list is only a part of it", error);
  }
}
