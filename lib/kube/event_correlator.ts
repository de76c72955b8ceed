/**
 * Decides what becomes of an Event: a new object, a higher count on an old one, or nothing. No input or output.
 *
 * The rules are those of client-go's `tools/record` package: aggregation, then counting, then the spam filter.
 * @module
 */
import type { KubeEvent } from "./resource.ts";

/** What to do with one Event. */
export type Correlation =
  | { readonly kind: "create"; readonly event: KubeEvent }
  | {
      readonly kind: "patch";
      /** The whole Event, to create it when it is gone. */
      readonly event: KubeEvent;
      /** Body of a strategic merge patch: only what changes with each repetition. */
      readonly patch: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "drop" };

interface Group {
  /** Different ones, the oldest first. */
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

/** From so many distinct messages on, Events of a group become one. */
const GROUP_MESSAGES_MAX = 10;
const GROUP_MS_MAX = 600_000;
const AGGREGATE_PREFIX = "(combined from similar events): ";
/** Events on one object: so many at once, then one in five minutes. */
const BURST_MAX = 25;
const REFILL_MS = 300_000;
const CACHE_SIZE_MAX = 4_096;

/** Remembers recent Events. Memory is bounded: 4,096 groups, Events and objects; the longest unused go first. */
export class EventCorrelator {
  readonly #groups = new LruCache<Group>(CACHE_SIZE_MAX);
  readonly #observations = new LruCache<Observation>(CACHE_SIZE_MAX);
  readonly #buckets = new LruCache<Bucket>(CACHE_SIZE_MAX);

  /**
   * Takes one Event in.
   *
   * @param event A new Event with its own name and a count of 1
   * @param nowMs Monotonic time
   */
  correlate(event: KubeEvent, nowMs: number): Correlation {
    const { key, event: shown } = this.#aggregate(event, nowMs);
    const correlation = this.#count(key, shown);
    // Dropped Events count all the same: the next one that passes says how many there were.
    return this.#takeToken(event, nowMs) ? correlation : { kind: "drop" };
  }

  #aggregate(event: KubeEvent, nowMs: number): { key: string; event: KubeEvent } {
    const groupKey = toGroupKey(event);
    const message = event.message ?? "";
    const known = this.#groups.get(groupKey);
    const fresh = known === undefined || nowMs - known.lastMs > GROUP_MS_MAX;
    const group: Group = fresh ? { messages: [], lastMs: nowMs } : known;
    if (!group.messages.includes(message)) group.messages.push(message);
    group.lastMs = nowMs;
    this.#groups.set(groupKey, group);
    if (group.messages.length < GROUP_MESSAGES_MAX) {
      return { key: `${groupKey}${message}`, event };
    }
    // One short of the limit is kept, so that the group stays full without growing.
    group.messages.shift();
    return { key: groupKey, event: { ...event, message: `${AGGREGATE_PREFIX}${message}` } };
  }

  #count(key: string, event: KubeEvent): Correlation {
    const known = this.#observations.get(key);
    if (known === undefined) {
      const { firstTimestamp } = event;
      this.#observations.set(key, { name: event.metadata.name, firstTimestamp, count: 1 });
      return { kind: "create", event };
    }
    known.count += 1;
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
    const key = JSON.stringify([...toSubject(event), event.type]);
    const known = this.#buckets.get(key) ?? { tokens: BURST_MAX, atMs: nowMs };
    const refilled = known.tokens + (nowMs - known.atMs) / REFILL_MS;
    const tokens = Math.min(BURST_MAX, refilled);
    const passes = tokens >= 1;
    this.#buckets.set(key, { tokens: passes ? tokens - 1 : tokens, atMs: nowMs });
    return passes;
  }
}

/** Events that differ in their message only share this key. */
function toGroupKey(event: KubeEvent): string {
  const { type, reason, reportingComponent, reportingInstance } = event;
  return JSON.stringify([...toSubject(event), type, reason, reportingComponent, reportingInstance]);
}

function toSubject({ source, involvedObject }: KubeEvent): (string | undefined)[] {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  // A UID says what the rest would; these keys are most of what thousands of Events leave behind.
  const object = uid === undefined ? [kind, namespace, name, apiVersion] : [uid];
  return [source?.component, source?.host, ...object];
}

/** A map that forgets what was not used for the longest time. */
class LruCache<V> {
  readonly #sizeMax: number;
  readonly #entries = new Map<string, V>();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#sizeMax) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
