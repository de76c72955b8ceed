/**
 * Decides what happens to an Event: a new object, a higher count on an old one, or nothing. Pure except for its memory.
 *
 * The rules are those of client-go's `tools/record` package: aggregation, then counting, then the spam filter.
 * @module
 */
import { createHash } from "node:crypto";
import type { KubeEvent } from "../kinds/event.ts";

/** The decision about one Event. */
export type Correlation =
  | { readonly kind: "create"; readonly event: KubeEvent }
  | {
      readonly kind: "patch";
      /** The whole Event, to create it if it was deleted. */
      readonly event: KubeEvent;
      /** Body of a strategic merge patch: only the fields that change with each repetition. */
      readonly patch: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "drop" };

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
 * Remembers recent Events. Memory is limited to 4,096 groups, Events and objects. It first removes entries without
 * effect, then those that were unused for longest. Thousands of Nodes fill it, so it keeps digests of texts.
 */
export class EventCorrelator {
  readonly #groups = new LruCache<Group>(isOldGroup);
  readonly #observations = new LruCache<Observation>(() => false);
  readonly #buckets = new LruCache<Bucket>(isFullBucket);

  /**
   * Decides about one Event, and remembers it.
   *
   * @param event A new Event with its own name and a count of 1
   * @param nowMs Monotonic time
   */
  correlate(event: KubeEvent, nowMs: number): Correlation {
    const { key, event: shown } = this.#aggregate(event, nowMs);
    const correlation = this.#count(key, shown, nowMs);
    // Dropped Events still count: the next Event that passes says how many there were.
    return this.#takeToken(event, nowMs) ? correlation : { kind: "drop" };
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

  #count(key: string, event: KubeEvent, nowMs: number): Correlation {
    const known = this.#observations.get(key);
    if (known === undefined) {
      const { firstTimestamp } = event;
      this.#observations.set(key, { name: event.metadata.name, firstTimestamp, count: 1 }, nowMs);
      return { kind: "create", event };
    }
    known.count += 1;
    this.#observations.set(key, known, nowMs);
    const { lastTimestamp, message } = event;
    const patch = { count: known.count, lastTimestamp, message };
    const metadata = { ...event.metadata, name: known.name };
    const { firstTimestamp = lastTimestamp } = known;
    const whole = { ...event, metadata, count: known.count };
    return {
      kind: "patch",
      patch,
      event: firstTimestamp === undefined ? whole : { ...whole, firstTimestamp },
    };
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
