/**
 * The objects of the simulated Xen Orchestra: as they are, and as its cache shows them.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import { COLLECTIONS, type Collection, isCollection, type XoRecord } from "../records.ts";
import { Cache, copy, type Lag, watched } from "./cache.ts";

/** All records. Their fields may be changed in place. */
export class Store {
  readonly #records: ReadonlyMap<Collection, Map<string, XoRecord>>;
  readonly #cache: Cache;

  constructor(clock: Clock, lag: Lag) {
    this.#cache = new Cache(clock, lag);
    const collections = Object.keys(COLLECTIONS).filter((key) => isCollection(key));
    this.#records = new Map(collections.map((collection) => [collection, new Map()]));
  }

  /** The records of a collection as they are, by ID. */
  all(collection: Collection): ReadonlyMap<string, XoRecord> {
    return this.#collection(collection);
  }

  /** What the cache shows of a collection. */
  listShown(collection: Collection): XoRecord[] {
    return this.#cache.list(collection, this.#collection(collection));
  }

  /** What the cache shows of an object. */
  readShown(collection: Collection, id: string): XoRecord | undefined {
    return this.#cache.show(collection, id, this.#collection(collection).get(id));
  }

  /** Adds or replaces a record. */
  put(collection: Collection, record: XoRecord): void {
    const records = this.#collection(collection);
    const { id } = record;
    const beforeChange = (): void => {
      const now = records.get(id);
      if (now === kept) this.#cache.beforeChange(collection, id, now);
    };
    // A copy, so that two simulators never share a record that a test changes.
    const kept = watched(copy(record), beforeChange);
    this.#cache.beforeChange(collection, id, records.get(id));
    records.set(id, kept);
  }

  /** Removes a record. */
  remove(collection: Collection, id: string): void {
    const records = this.#collection(collection);
    if (records.has(id)) this.#cache.beforeChange(collection, id, records.get(id));
    records.delete(id);
  }

  /** Carries out what a call of the hypervisor changes: only later does the cache show it. */
  call<T>(effect: () => T): T {
    return this.#cache.call(effect);
  }

  /** Lets the cache show what is there. */
  reload(): void {
    this.#cache.reload();
  }

  #collection(collection: Collection): Map<string, XoRecord> {
    const records = this.#records.get(collection);
    if (records === undefined) throw new RangeError(`Cannot use collection "${collection}"`);
    return records;
  }
}
