/**
 * Keeps a store equal to the API server: lists, watches, and lists again when events may be missing.
 * @module
 */
import { type Clock, Sleeper } from "../../core/clock.ts";
import { formatDuration, isFields } from "../../core/text/values.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, Gauge, MetricsRegistry } from "../../core/metrics.ts";
import type { KubeClient, Selection, WatchEvent } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import { listAll } from "./list_all.ts";
import type { Recovery } from "../api/recovery.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject, Resource } from "../kinds/resource.ts";
import { findDamage } from "../kinds/shape.ts";
import { parseStatus, toKubeError } from "../api/status.ts";
import type { Store } from "./store.ts";
import { WatchSilence } from "./watch_silence.ts";
import {
  FIRST_STATE,
  RestartBackoff,
  toNextStep,
  toWatchSeconds,
  type WatcherOutcome,
  type WatcherState,
  type WatcherStep,
} from "./watcher_state.ts";

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
  // Of a list from its cache, which a version asks for, an API server ignores the limit.
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
