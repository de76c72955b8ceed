/**
 * The content of the simulated API server: the objects, one counter of versions, and the recent changes for watches.
 * @module
 */
import type { ApiObject } from "./patches/json.ts";

/** One version of an object. Its JSON is made once for all watches and lists. */
export class Stored {
  readonly object: ApiObject;
  #json: string | undefined;

  constructor(object: ApiObject) {
    this.object = object;
  }

  /** The object as JSON, without `kind` and `apiVersion`. */
  get json(): string {
    this.#json ??= JSON.stringify(this.object);
    return this.#json;
  }
}

/** One write. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resourceVersion: number;
  readonly key: string;
  /** After the write; for a deletion the last state, with the version of the deletion. */
  readonly current: Stored;
  /** Before the write. */
  readonly previous: Stored | undefined;
}

/** Creates versions: one counter for all kinds, as in etcd. */
export class VersionCounter {
  #last: number;

  /** @param first Version before the first write. @default 1000 */
  constructor(first: number = 1000) {
    this.#last = first;
  }

  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

/**
 * Objects of one kind by `name` or `namespace/name`, and their last changes.
 *
 * Assumptions: keys sort as etcd sorts them. Changes older than the window, or compacted, are gone:
 * {@linkcode Collection.changesSince} then returns `undefined`.
 */
export class Collection {
  readonly #versions: VersionCounter;
  readonly #historyMax: number;
  readonly #objects = new Map<string, Stored>();
  readonly #listeners = new Set<(change: Change) => void>();
  #history: Change[] = [];
  #oldest: number;
  #keys: string[] | undefined;
  /** What {@linkcode Collection.entries} returns until the next write. */
  #entries: readonly (readonly [string, Stored])[] | undefined;

  constructor(versions: VersionCounter, historyMax: number) {
    this.#versions = versions;
    this.#historyMax = historyMax;
    this.#oldest = versions.last;
  }

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  /** Objects in the order of their keys. */
  entries(): readonly (readonly [string, Stored])[] {
    if (this.#entries !== undefined) return this.#entries;
    this.#keys ??= [...this.#objects.keys()].sort();
    const found: [string, Stored][] = [];
    for (const key of this.#keys) {
      const stored = this.#objects.get(key);
      if (stored !== undefined) found.push([key, stored]);
    }
    this.#entries = found;
    return found;
  }

  /** Objects as they were at a version, or `undefined` when the changes since are gone. */
  entriesAt(resourceVersion: number): readonly (readonly [string, Stored])[] | undefined {
    const changes = this.changesSince(resourceVersion);
    if (changes === undefined) return undefined;
    if (changes.length === 0) return this.entries();
    const then = new Map(this.#objects);
    for (const change of changes.toReversed()) {
      if (change.previous === undefined) then.delete(change.key);
      else then.set(change.key, change.previous);
    }
    return [...then].sort(([left], [right]) => (left < right ? -1 : 1));
  }

  /** Changes after a version, oldest first, or `undefined` when some of them are gone. */
  changesSince(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#oldest) return undefined;
    let start = this.#history.length;
    while (start > 0 && (this.#history[start - 1]?.resourceVersion ?? 0) > resourceVersion) {
      start -= 1;
    }
    return this.#history.slice(start);
  }

  /** Stores a new version of an object, which `make` builds knowing its number. */
  put(key: string, make: (resourceVersion: string) => ApiObject): Stored {
    const previous = this.#objects.get(key);
    const resourceVersion = this.#versions.next();
    const current = new Stored(make(String(resourceVersion)));
    if (previous === undefined) this.#keys = undefined;
    this.#entries = undefined;
    this.#objects.set(key, current);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.#publish({ type, resourceVersion, key, current, previous });
    return current;
  }

  /** Removes an object; watches get its last state with the version of the removal. */
  remove(key: string): Stored | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    const resourceVersion = this.#versions.next();
    const { object } = previous;
    const metadata = { ...object.metadata, resourceVersion: String(resourceVersion) };
    const current = new Stored({ ...object, metadata });
    this.#objects.delete(key);
    this.#keys = undefined;
    this.#entries = undefined;
    this.#publish({ type: "DELETED", resourceVersion, key, current, previous });
    return current;
  }

  /** Version of the newest change of this kind that is still kept, or 0. */
  get lastChange(): number {
    return this.#history.at(-1)?.resourceVersion ?? 0;
  }

  /** Calls `listener` with each change from now on. Returns the function that ends this. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all changes up to now, as etcd's compaction does. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.#versions.last;
  }

  #publish(change: Change): void {
    this.#history.push(change);
    // Trimmed in bulk: one by one would move the whole array on each write.
    if (this.#history.length > this.#historyMax * 2) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyMax);
      this.#oldest = dropped.at(-1)?.resourceVersion ?? this.#oldest;
    }
    for (const listener of this.#listeners) listener(change);
  }
}
