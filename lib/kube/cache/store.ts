/**
 * Objects of one kind, as the API server last showed them: by a list, a watch, or the answer to a request of ours.
 *
 * Versions of one kind are ordered numbers. So an answer replaces only what is older, and what the watch shows late
 * replaces no answer. A version that is no number has no order: then what comes last counts, and nothing waits. Source:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 * @module
 */
import {
  abortable,
  type Clock,
  startDeadline,
  systemClock,
  toBackoffMs,
} from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import { type Kind, type KubeObject, trimObject } from "../kinds/resource.ts";

/** `name`, or `namespace/name` for a namespaced object. */
export type Key = string;

/** Reading side of a store. Objects are trimmed and frozen. */
export interface StoreReader<T extends KubeObject> {
  get(key: Key): T | undefined;
  keys(): Iterable<Key>;
  values(): Iterable<T>;
  readonly size: number;
  /** Whether the first list is in the store. */
  readonly synced: boolean;
  /** Resolves when the first list is in the store. @throws `signal.reason` when the signal aborts first */
  untilSynced(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when the store has all that the API server had at the first call with this signal, so that a new leader
   * sees what the last one wrote. All callers with one signal share one request.
   *
   * @throws `signal.reason` when the signal aborts first
   */
  catchUp(signal: AbortSignal): Promise<void>;
  /** Calls `listener` for all objects in the store, then for each change. Returns the function that ends this. */
  subscribe(listener: StoreListener<T>): () => void;
}

/**
 * Called for each change, in order. `before` is absent for a new object, `after` for a deleted one (`before` is then
 * its last known state). It must not block. Its errors are logged and do not affect other listeners.
 */
type StoreListener<T extends KubeObject> = (
  key: Key,
  before: T | undefined,
  after: T | undefined,
) => void;

/** What a {@linkcode Store} needs. */
interface StoreOptions<T extends KubeObject> {
  readonly resource: Kind<T>;
  readonly log: Logger;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** Asks the API server for the newest version of the collection, by quorum. @default {the store is never behind} */
  readonly readVersion?: (signal: AbortSignal) => Promise<string>;
}

/** What an answer said before the watch showed it. */
interface Ahead {
  /** Of the answer; of the last known state, if the object is gone. */
  readonly version: string | undefined;
  /** UID of an object that we deleted. */
  readonly goneUid?: string | undefined;
  readonly sinceMs: number;
}

/** After this time without a sign of an answer, only a new list says what is true. */
const AHEAD_MS_MAX = 30_000;
/** A list of more objects is worth a short wait for the watch. */
const SMALL = 500;
const WAIT_MS = 500;
/** How long a list may take before the store asks for another. */
const LIST_MS = 10_000;
const RETRY = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 } as const;

/**
 * The objects of one kind.
 *
 * Only the watcher and the client of {@linkcode Caches} write; give everything else a {@linkcode StoreReader}.
 * Guarantees: every read sees a whole list or a whole change, never half of one; listeners are called after the store
 * has changed; an object is never older than the last answer about it. Only a newest list that is older than what the
 * store had replaces answers, too: then the API server was restored from a backup.
 */
export class Store<T extends KubeObject> implements StoreReader<T> {
  readonly #options: StoreOptions<T>;
  readonly #clock: Clock;
  readonly #listeners = new Set<StoreListener<T>>();
  #objects: Map<Key, T> = new Map();
  /** How far lists and the watch are; absent before the first list. */
  #version: string | undefined;
  /** Oldest first. */
  readonly #ahead = new Map<Key, Ahead>();
  #firstList = Promise.withResolvers<void>();
  #outdated = new AbortController();
  /** When the last list by quorum was asked for, in monotonic milliseconds. */
  #quorumMs = -Infinity;
  readonly #caughtUp = new WeakMap<AbortSignal, Promise<void>>();
  /** Present while something waits for it. */
  #progress: PromiseWithResolvers<void> | undefined;

  constructor(options: StoreOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get size(): number {
    return this.#objects.size;
  }

  get synced(): boolean {
    return this.#version !== undefined;
  }

  /** Aborts when only a new list by quorum helps; {@linkcode replace} then sets another signal. */
  get outdated(): AbortSignal {
    return this.#outdated.signal;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<Key> {
    return this.#objects.keys();
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  untilSynced(signal: AbortSignal): Promise<void> {
    return abortable(this.#firstList.promise, signal);
  }

  subscribe(listener: StoreListener<T>): () => void {
    this.#listeners.add(listener);
    for (const [key, object] of this.#objects) this.#tellOne(listener, key, undefined, object);
    return () => this.#listeners.delete(listener);
  }

  catchUp(signal: AbortSignal): Promise<void> {
    const known = this.#caughtUp.get(signal);
    if (known !== undefined) return known;
    const caughtUp = this.#catchUp(signal);
    // Only the signal rejects this, and all callers may have stopped waiting then.
    caughtUp.catch(() => undefined);
    this.#caughtUp.set(signal, caughtUp);
    return caughtUp;
  }

  /**
   * Replaces the content by a whole list. Calls listeners for changed objects and for those that the list lacks.
   *
   * @param askedMs When the list by quorum was asked for, in monotonic milliseconds. @default {now}
   */
  replace(
    items: Iterable<T>,
    resourceVersion: string,
    askedMs: number = this.#clock.monotonic(),
  ): void {
    const before = this.#objects;
    const isRestored = this.#isRestored(resourceVersion, askedMs);
    if (isRestored) this.#ahead.clear();
    const after = new Map<Key, T>();
    const gone = new Set<string | undefined>();
    for (const item of items) {
      const key = toKey(item);
      const known = before.get(key);
      const ahead = this.#ahead.get(key);
      const isSettled = ahead !== undefined && ahead.sinceMs < askedMs;
      if (ahead?.goneUid !== undefined && ahead.goneUid === item.metadata.uid && !isSettled) {
        gone.add(ahead.goneUid);
        continue;
      }
      const isAhead = ahead?.goneUid === undefined && isOlder(toVersion(item), ahead?.version);
      // The same version is the same object: keep it, and do not call listeners. After a restore it may be another.
      const isKept = known !== undefined && (isAhead || (isSame(known, item) && !isRestored));
      after.set(key, isKept ? known : trimObject(this.#options.resource, item));
    }
    for (const [key, { version, goneUid }] of this.#ahead) {
      if (isOlder(resourceVersion, version)) {
        const known = before.get(key);
        if (known !== undefined && !after.has(key)) after.set(key, known);
      } else if (!gone.has(goneUid)) this.#ahead.delete(key);
    }
    this.#objects = after;
    this.#version = resourceVersion;
    this.#quorumMs = askedMs;
    if (this.outdated.aborted) this.#outdated = new AbortController();
    for (const [key, object] of before) if (!after.has(key)) this.#tell(key, object, undefined);
    for (const [key, object] of after) this.#tellChange(key, before.get(key), object, isRestored);
    this.#firstList.resolve();
    this.#noteProgress();
  }

  /** Adds or replaces one object, unless an answer was newer. */
  apply(object: T): void {
    const key = toKey(object);
    if (this.#ahead.get(key)?.goneUid === (object.metadata.uid ?? "")) return;
    if (!this.#takes(key, object)) return;
    const known = this.#objects.get(key);
    if (known === undefined || !isSame(known, object)) this.#put(key, object);
  }

  /** Removes one object; listeners get its state at the deletion. */
  remove(object: T): void {
    const key = toKey(object);
    if (!this.#takes(key, object) || !this.#objects.delete(key)) return;
    this.#tell(key, trimObject(this.#options.resource, object), undefined);
  }

  /** Notes that the watch has shown everything up to this version. */
  reach(version: string): void {
    this.#version = version;
    this.#noteProgress();
  }

  /** Notes that the watch has shown everything up to the version of a bookmark. */
  settle(version: string): void {
    for (const [key, ahead] of this.#ahead) {
      if (!isOlder(version, ahead.version)) this.#ahead.delete(key);
    }
    this.reach(version);
  }

  /** Asks for a new list. */
  requestList(): void {
    this.#outdated.abort();
  }

  /** Asks for a new list if the watch does not show what an answer said. */
  checkAnswers(): void {
    const [oldest] = this.#ahead.values();
    if (oldest === undefined) return;
    if (this.#clock.monotonic() - oldest.sinceMs > AHEAD_MS_MAX) this.#outdated.abort();
  }

  /**
   * Takes the answer to a request of ours, if it is newer than what the store has.
   *
   * @param seen What the store had when the request began
   */
  learn(answer: T, seen: T | undefined): void {
    const key = toKey(answer);
    if (!this.synced || this.#ahead.get(key)?.goneUid === (answer.metadata.uid ?? "")) return;
    const known = this.#objects.get(key);
    const version = toVersion(answer);
    const order = compareVersions(version, known === undefined ? this.#version : toVersion(known));
    // The request began after that: only a server that was restored from a backup has an older one.
    if (order !== undefined && order < 0 && known !== undefined && known === seen) {
      return this.#outdated.abort();
    }
    if (order === undefined ? known !== seen : order <= 0) return;
    if (order !== undefined) this.#setAhead(key, { version });
    this.#put(key, answer);
  }

  /** Notes that we deleted an object, and that the API server does not have it any more. */
  learnGone(object: KubeObject): void {
    const key = toKey(object);
    const known = this.#objects.get(key);
    if (known === undefined || known.metadata.uid !== object.metadata.uid) return;
    this.#setAhead(key, { version: toVersion(known), goneUid: known.metadata.uid });
    this.#objects.delete(key);
    this.#tell(key, known, undefined);
  }

  /** Removes all objects: the kind itself is gone. The store is not synced until the next list. */
  clear(): void {
    const before = this.#objects;
    if (this.synced) this.#firstList = Promise.withResolvers();
    this.#objects = new Map();
    this.#version = undefined;
    this.#ahead.clear();
    for (const [key, object] of before) this.#tell(key, object, undefined);
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const { readVersion, resource, log } = this.#options;
    const sinceMs = this.#clock.monotonic();
    await this.untilSynced(signal);
    if (readVersion === undefined) return;
    for (let failures = 1; this.#quorumMs < sinceMs; failures += 1) {
      try {
        return await this.#untilReached(await readVersion(signal), sinceMs, signal);
      } catch (error) {
        signal.throwIfAborted();
        const fields = { resource: resource.plural, error };
        log.warn("Cannot ask how new the cache must be; trying again", fields);
        await this.#clock.sleep(toBackoffMs(failures, RETRY), signal);
      }
    }
  }

  /** A quiet collection reaches no version by its watch: the API server sends nothing. Then a list has to do. */
  async #untilReached(version: string, sinceMs: number, signal: AbortSignal): Promise<void> {
    const isReached = (): boolean =>
      this.#quorumMs >= sinceMs || (this.synced && !isOlder(this.#version, version));
    const waits = async (ms: number): Promise<void> => {
      using deadline = startDeadline(signal, ms, this.#clock);
      while (!isReached() && !deadline.signal.aborted) {
        this.#progress ??= Promise.withResolvers();
        // Only the deadline and the signal can reject this.
        await abortable(this.#progress.promise, deadline.signal).catch(() => undefined);
      }
      signal.throwIfAborted();
    };
    if (!isReached() && this.size > SMALL) await waits(WAIT_MS);
    while (!isReached()) {
      this.#outdated.abort();
      await waits(LIST_MS);
    }
  }

  #noteProgress(): void {
    this.#progress?.resolve();
    this.#progress = undefined;
  }

  /** Whether a list shows that the API server has forgotten what it said before. */
  #isRestored(version: string, askedMs: number): boolean {
    if (isOlder(version, this.#version)) return true;
    return this.#ahead
      .values()
      .some((ahead) => ahead.sinceMs < askedMs && isOlder(version, ahead.version));
  }

  /** Whether the watch shows something new about an object. */
  #takes(key: Key, object: T): boolean {
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return true;
    const isOld = isOlder(toVersion(object), ahead.version);
    if (!isOld) this.#ahead.delete(key);
    return !isOld;
  }

  #setAhead(key: Key, ahead: Omit<Ahead, "sinceMs">): void {
    this.#ahead.delete(key);
    this.#ahead.set(key, { ...ahead, sinceMs: this.#clock.monotonic() });
  }

  #put(key: Key, object: T): void {
    const before = this.#objects.get(key);
    const after = trimObject(this.#options.resource, object);
    this.#objects.set(key, after);
    this.#tellChange(key, before, after);
  }

  #tellChange(key: Key, before: T | undefined, after: T, isRestored = false): void {
    if (before !== undefined && isSame(before, after) && !isRestored) return;
    if (before !== undefined && before.metadata.uid !== after.metadata.uid) {
      // The object was deleted and created again between two lists: two changes, not one.
      this.#tell(key, before, undefined);
      return this.#tell(key, undefined, after);
    }
    this.#tell(key, before, after);
  }

  #tell(key: Key, before: T | undefined, after: T | undefined): void {
    for (const listener of this.#listeners) this.#tellOne(listener, key, before, after);
  }

  #tellOne(
    listener: StoreListener<T>,
    key: Key,
    before: T | undefined,
    after: T | undefined,
  ): void {
    try {
      listener(key, before, after);
    } catch (error) {
      const what = this.#options.resource.kind.toLowerCase();
      this.#options.log.error("Store listener failed", { [what]: key, error });
    }
  }
}

/** The key of an object in its store. */
export function toKey({ metadata }: KubeObject): Key {
  return metadata.namespace === undefined || metadata.namespace === ""
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  const { uid, resourceVersion, isStub } = a.metadata;
  return (
    resourceVersion !== undefined &&
    resourceVersion === b.metadata.resourceVersion &&
    uid === b.metadata.uid &&
    isStub === b.metadata.isStub
  );
}

function toVersion({ metadata }: KubeObject): string | undefined {
  return metadata.resourceVersion;
}

const NUMBER = /^(0|[1-9][0-9]*)$/;

/**
 * Compares two versions of one kind.
 *
 * @returns Less than 0 if the first is older; `undefined` if they have no order: one of them is missing, or no number
 */
function compareVersions(one: string | undefined, other: string | undefined): number | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return 0;
  if (!NUMBER.test(one) || !NUMBER.test(other)) return undefined;
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : 1;
}

function isOlder(one: string | undefined, other: string | undefined): boolean {
  const order = compareVersions(one, other);
  return order !== undefined && order < 0;
}
