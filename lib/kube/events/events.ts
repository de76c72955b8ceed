/**
 * Events on objects, for `kubectl describe`. They are written in the background and never delay a reconcile.
 * Equal ones are counted, similar ones combined, and too many dropped.
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import { type Clock, formatTime } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";
import { isSubdomain } from "../../core/text/label.ts";
import { toMessage } from "../../core/text/printable.ts";
import type { KubeClient } from "../api/client.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import { EVENTS, type KubeEvent } from "../kinds/event.ts";
import { RecentEvents } from "./recent.ts";
import type { KubeObject } from "../kinds/resource.ts";

/** The content of an Event. */
export interface EventOptions {
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase word; frozen after its first release. */
  readonly reason: string;
  /** Text for operators. */
  readonly message: string;
}

/** Accepts Events. Never blocks and never throws. */
export interface EventRecorder {
  record(object: KubeObject, event: EventOptions): void;
}

/** What an {@linkcode EventSender} needs. */
interface EventSenderOptions {
  readonly client: KubeClient;
  /** Host of the process; without it the Event names none. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: EventMetrics;
  /** Random part of names and of the first retry, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** Metrics of the Events of a process, by `result`: */
export interface EventMetrics {
  /** `sent`, `failed`, `dropped` (queue full, or process stopped), `filtered` (too many on one object). */
  readonly events: Counter;
}

const QUEUE_SIZE_MAX = 1_000;
const TRIES_MAX = 12;
const RETRY_GAP_MS = 10_000;
/** Nanoseconds in a millisecond. */
const SERIAL_MAX = 1_000_000;
const FLUSH_MS_MAX = 2_000;

/** Registers the metrics of Events. Call it once for a registry and hand the result to the sender. */
export function createEventMetrics(registry: MetricsRegistry): EventMetrics {
  return {
    events: registry.counter({
      name: "landfall_events_total",
      help: "Events by result: sent, failed, dropped, filtered.",
    }),
  };
}

/**
 * The queue of Events that all components of a process share. It writes core/v1 Events as client-go's `tools/record`
 * package does.
 *
 * Equal Events become one with a count. From ten different messages in ten minutes on they are combined. After 25 on
 * one object they are dropped, except one in five minutes. At most 1,000 wait; further ones are dropped.
 */
export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #correlator = new EventCorrelator();
  readonly #queue: KubeEvent[] = [];
  /** The last ones of each object. */
  readonly recent: RecentEvents = new RecentEvents();
  /** Kinds of refusals that were logged as warnings since the last success. */
  readonly #warned = new Set<string>();
  /** Starts at random: two processes may write about one object in the same millisecond. */
  #serial: number;
  #wake: (() => void) | undefined;

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#serial = Math.floor((options.random ?? Math.random)() * SERIAL_MAX);
  }

  /** A recorder for a component, such as `cloud-node-controller`. */
  speakAs(component: string): EventRecorder {
    return { record: (object, event) => this.#record(component, object, event) };
  }

  #record(component: string, object: KubeObject, event: EventOptions): void {
    const written = this.#toEvent(component, object, event);
    this.recent.note(written);
    if (this.#queue.length >= QUEUE_SIZE_MAX) return this.#count("dropped");
    this.#queue.push(written);
    this.#wake?.();
  }

  /** Delivers until the signal aborts, then tries the rest once, for 2 s at most. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // Requests may continue for a moment after the signal, so that they arrive.
    const flush = new AbortController();
    const ended = new AbortController();
    const end = (): void => {
      this.#wake?.();
      const timeout = (): void => flush.abort(new Error("the process stops"));
      clock.sleep(FLUSH_MS_MAX, ended.signal).then(timeout, () => undefined);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    try {
      await this.#work(signal, flush.signal);
    } finally {
      signal.removeEventListener("abort", end);
      ended.abort();
    }
  }

  async #work(signal: AbortSignal, flush: AbortSignal): Promise<void> {
    while (!flush.aborted) {
      const event = this.#queue.shift();
      if (event === undefined) {
        if (signal.aborted) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
        continue;
      }
      const delivery = this.#correlator.correlate(event, this.#options.clock.monotonic());
      if (delivery === undefined) this.#count("filtered");
      else await this.#deliver(delivery, signal, flush);
    }
    this.#count("dropped", this.#queue.splice(0).length);
  }

  /** Tries again until there is an answer. Any answer is final. */
  async #deliver(delivery: Delivery, signal: AbortSignal, flush: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#send(delivery, flush);
        this.#warned.clear();
        return this.#count("sent");
      } catch (error) {
        const code = error instanceof KubeError ? error.code : 0;
        // An earlier try arrived, but not its answer.
        if (tries > 1 && isKubeError(error, "alreadyExists")) return this.#count("sent");
        // After the stop each Event has one try.
        if (code !== undefined || tries >= TRIES_MAX || signal.aborted) {
          return this.#giveUp(delivery.event, error);
        }
        // Random, so that not all clients return to the API server at the same moment.
        const gapMs = tries === 1 ? RETRY_GAP_MS * random() : RETRY_GAP_MS;
        await clock.sleep(gapMs, signal).catch(() => undefined);
      }
    }
  }

  async #send({ event, patch }: Delivery, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { name, namespace = "default" } = event.metadata;
    if (patch !== undefined) {
      try {
        const body = { type: "strategic", body: patch } as const;
        await client.patch(EVENTS, { namespace, name }, body, signal);
        return;
      } catch (error) {
        // The API server deletes Events after about an hour. Then this one is created again, with its count.
        if (!isKubeError(error, "notFound")) throw error;
      }
    }
    await client.create(EVENTS, { namespace }, event, signal);
  }

  #giveUp({ reason, involvedObject }: KubeEvent, error: unknown): void {
    this.#count("failed");
    const fields = { reason, object: `${involvedObject.kind}/${involvedObject.name}`, error };
    const kind = error instanceof KubeError ? error.kind : "error";
    const { log } = this.#options;
    if (this.#warned.has(kind)) return log.debug("Cannot write an Event", fields);
    this.#warned.add(kind);
    log.warn("Cannot write an Event", fields);
  }

  #toEvent(
    component: string,
    { apiVersion, kind, metadata }: KubeObject,
    event: EventOptions,
  ): KubeEvent {
    const { host, clock } = this.#options;
    const { name, namespace, uid, resourceVersion } = metadata;
    const nowMs = clock.now();
    const time = formatTime(nowMs);
    return {
      apiVersion: EVENTS.apiVersion,
      kind: EVENTS.kind,
      // Events on objects without a namespace belong here: the API server refuses any other namespace.
      metadata: { name: this.#toName(name, nowMs), namespace: namespace || "default" },
      involvedObject: {
        ...(kind !== undefined && { kind }),
        ...(apiVersion !== undefined && { apiVersion }),
        ...(namespace && { namespace }),
        name,
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      type: event.type,
      reason: event.reason,
      message: toMessage(event.message),
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      source: { component, ...(host !== undefined && { host }) },
      reportingComponent: component,
      reportingInstance: host ?? "",
    };
  }

  /** `<object>.<hex of Unix nanoseconds>`. The clock counts milliseconds; the other digits make names unique. */
  #toName(object: string, nowMs: number): string {
    this.#serial = (this.#serial + 1) % SERIAL_MAX;
    const nanos = BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(this.#serial);
    const name = `${object}.${nanos.toString(16)}`;
    return isSubdomain(name) ? name : randomUUID();
  }

  #count(result: "sent" | "failed" | "dropped" | "filtered", events = 1): void {
    if (events > 0) this.#options.metrics?.events.inc({ result }, events);
  }
}

/** The write for one Event. */
interface Delivery {
  /** The whole Event, to create it, too, if it was deleted. */
  readonly event: KubeEvent;
  /** Body of a strategic merge patch: only the fields that change with each repetition. Absent: the Event is new. */
  readonly patch?: Readonly<Record<string, unknown>>;
}

interface Group {
  /** Digests of different messages, the oldest first. */
  readonly messages: string[];
  lastMs: number;
}

interface Observation {
  readonly name: string;
  readonly firstTimestamp: string | undefined;
  count: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** From this many different messages on, the Events of a group are combined. */
const GROUP_MESSAGES_MAX = 10;
const GROUP_MS_MAX = 600_000;
const AGGREGATE_PREFIX = "(combined from similar events): ";
/** Events on one object: this many at once, then one in five minutes. */
const BURST_MAX = 25;
const REFILL_MS = 300_000;
const CACHE_SIZE_MAX = 4_096;

/**
 * Decides what happens to an Event: a new object, a higher count on an old one, or nothing. The rules are those of
 * client-go's `tools/record` package: aggregation, then counting, then the spam filter.
 *
 * It remembers recent Events. Memory is limited to 4,096 groups, Events and objects. It first removes entries without
 * effect, then those that were unused for longest. Thousands of Nodes fill it, so it keeps digests of texts.
 */
export class EventCorrelator {
  readonly #groups = new LruCache<Group>(isOldGroup);
  readonly #observations = new LruCache<Observation>(() => false);
  readonly #buckets = new LruCache<Bucket>(isFullBucket);

  /**
   * Decides about one Event, and remembers it. `undefined`: it is dropped.
   *
   * @param event A new Event with its own name and a count of 1
   * @param nowMs Monotonic time
   */
  correlate(event: KubeEvent, nowMs: number): Delivery | undefined {
    const { key, event: shown } = this.#aggregate(event, nowMs);
    const delivery = this.#count(key, shown, nowMs);
    // Dropped Events still count: the next Event that passes says how many there were.
    return this.#takeToken(event, nowMs) ? delivery : undefined;
  }

  #aggregate(event: KubeEvent, nowMs: number): { key: string; event: KubeEvent } {
    const groupKey = toGroupKey(event);
    const message = event.message ?? "";
    const messageKey = toDigest(`${groupKey}${message}`);
    const known = this.#groups.get(groupKey);
    const fresh = known === undefined || isOldGroup(known, nowMs);
    const group: Group = fresh ? { messages: [], lastMs: nowMs } : known;
    if (!group.messages.includes(messageKey)) group.messages.push(messageKey);
    group.lastMs = nowMs;
    this.#groups.set(groupKey, group, nowMs);
    if (group.messages.length < GROUP_MESSAGES_MAX) return { key: messageKey, event };
    // Keeps one less than the limit, so that the group stays full without growing.
    group.messages.shift();
    return { key: groupKey, event: { ...event, message: `${AGGREGATE_PREFIX}${message}` } };
  }

  #count(key: string, event: KubeEvent, nowMs: number): Delivery {
    const known = this.#observations.get(key);
    if (known === undefined) {
      const { firstTimestamp } = event;
      this.#observations.set(key, { name: event.metadata.name, firstTimestamp, count: 1 }, nowMs);
      return { event };
    }
    known.count += 1;
    this.#observations.set(key, known, nowMs);
    const { lastTimestamp, message } = event;
    const patch = { count: known.count, lastTimestamp, message };
    const metadata = { ...event.metadata, name: known.name };
    const { firstTimestamp = lastTimestamp } = known;
    const whole = { ...event, metadata, count: known.count };
    return { patch, event: firstTimestamp === undefined ? whole : { ...whole, firstTimestamp } };
  }

  #takeToken(event: KubeEvent, nowMs: number): boolean {
    const key = toDigest(JSON.stringify([...toSubject(event), event.type]));
    const known = this.#buckets.get(key) ?? { tokens: BURST_MAX, atMs: nowMs };
    const tokens = readTokens(known, nowMs);
    const passes = tokens >= 1;
    this.#buckets.set(key, { tokens: passes ? tokens - 1 : tokens, atMs: nowMs }, nowMs);
    return passes;
  }
}

function isOldGroup({ lastMs }: Group, nowMs: number): boolean {
  return nowMs - lastMs > GROUP_MS_MAX;
}

function isFullBucket(bucket: Bucket, nowMs: number): boolean {
  return readTokens(bucket, nowMs) === BURST_MAX;
}

function readTokens({ tokens, atMs }: Bucket, nowMs: number): number {
  return Math.min(BURST_MAX, tokens + (nowMs - atMs) / REFILL_MS);
}

/** The key for Events that differ only in their message. */
function toGroupKey(event: KubeEvent): string {
  const { type, reason, reportingComponent, reportingInstance } = event;
  return toDigest(
    JSON.stringify([...toSubject(event), type, reason, reportingComponent, reportingInstance]),
  );
}

/** 32 characters of one byte each, for any text. */
function toDigest(text: string): string {
  return createHash("sha256").update(text).digest("latin1");
}

function toSubject({ source, involvedObject }: KubeEvent): (string | undefined)[] {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return [source?.component, source?.host, kind, namespace, name, uid, apiVersion];
}

/** A map that removes the entry that was unused for longest. */
class LruCache<V> {
  readonly #isSpent: (value: V, nowMs: number) => boolean;
  readonly #entries = new Map<string, V>();

  /** @param isSpent Whether a value has the same effect as no value */
  constructor(isSpent: (value: V, nowMs: number) => boolean) {
    this.#isSpent = isSpent;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V, nowMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const [oldest, old] of this.#entries) {
      const isFull = this.#entries.size > CACHE_SIZE_MAX;
      if (!isFull && !this.#isSpent(old, nowMs)) return;
      this.#entries.delete(oldest);
    }
  }
}
