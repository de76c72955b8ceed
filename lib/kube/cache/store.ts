/**
 * Objects of one kind, as the watcher last saw them. One writer, many readers.
 * @module
 */
import { abortable } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kinds/resource.ts";
import { trimObject } from "../kinds/trim.ts";

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
  /** Calls `listener` for all objects in the store, then for each change. Returns the function that ends this. */
  subscribe(listener: StoreListener<T>): () => void;
}

/**
 * Called for each change, in order. `before` is absent for a new object, `after` for a deleted one (`before` is then
 * its last known state). It must not block. Its errors are logged and do not affect other listeners.
 */
export type StoreListener<T extends KubeObject> = (
  key: Key,
  before: T | undefined,
  after: T | undefined,
) => void;

/** What a {@linkcode Store} needs. */
interface StoreOptions<T extends KubeObject> {
  readonly resource: Kind<T>;
  readonly log: Logger;
}

/**
 * The objects of one kind.
 *
 * Only the watcher writes; give everything else a {@linkcode StoreReader}. Guarantees: every read sees a
 * whole list or a whole change, never half of one; listeners are called after the store has changed.
 */
export class Store<T extends KubeObject> implements StoreReader<T> {
  readonly #resource: Kind<T>;
  readonly #log: Logger;
  readonly #listeners = new Set<StoreListener<T>>();
  #objects: Map<Key, T> = new Map();
  #resourceVersion: string | undefined;
  #firstList = Promise.withResolvers<void>();

  constructor({ resource, log }: StoreOptions<T>) {
    this.#resource = resource;
    this.#log = log;
  }

  get size(): number {
    return this.#objects.size;
  }

  get synced(): boolean {
    return this.#resourceVersion !== undefined;
  }

  /** Version of the last list; absent before the first. Opaque. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
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

  /** Replaces the content by a whole list. Calls listeners for changed objects and for those that the list lacks. */
  replace(items: Iterable<T>, resourceVersion: string): void {
    const before = this.#objects;
    const after = new Map<Key, T>();
    for (const item of items) {
      const key = toKey(item);
      const known = before.get(key);
      // The same version is the same object: keep it, and do not call listeners.
      after.set(key, known && isSame(known, item) ? known : trimObject(this.#resource, item));
    }
    this.#objects = after;
    this.#resourceVersion = resourceVersion;
    for (const [key, object] of before) if (!after.has(key)) this.#tell(key, object, undefined);
    for (const [key, object] of after) this.#tellChange(key, before.get(key), object);
    this.#firstList.resolve();
  }

  /** Adds or replaces one object. */
  apply(object: T): void {
    const key = toKey(object);
    const before = this.#objects.get(key);
    const after = trimObject(this.#resource, object);
    this.#objects.set(key, after);
    this.#tellChange(key, before, after);
  }

  /** Removes one object; listeners get its state at the deletion. */
  remove(object: T): void {
    const key = toKey(object);
    if (!this.#objects.delete(key)) return;
    this.#tell(key, trimObject(this.#resource, object), undefined);
  }

  /** Removes all objects: the kind itself is gone. The store is not synced until the next list. */
  clear(): void {
    const before = this.#objects;
    if (this.synced) this.#firstList = Promise.withResolvers();
    this.#objects = new Map();
    this.#resourceVersion = undefined;
    for (const [key, object] of before) this.#tell(key, object, undefined);
  }

  #tellChange(key: Key, before: T | undefined, after: T): void {
    if (before !== undefined && isSame(before, after)) return;
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
      const what = this.#resource.kind.toLowerCase();
      this.#log.error("Store listener failed", { [what]: key, error });
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
  const { uid, resourceVersion } = a.metadata;
  return (
    resourceVersion !== undefined &&
    resourceVersion === b.metadata.resourceVersion &&
    uid === b.metadata.uid
  );
}
