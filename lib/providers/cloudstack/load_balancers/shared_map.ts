/**
 * A map that hands out what it holds, and copies it only before the next change.
 * @module
 */

/** A map whose shared content never changes. Many changes between two shares cost one copy. */
export class SharedMap<K, V> {
  #map: ReadonlyMap<K, V>;
  /** The same map as long as it is not shared. */
  #own: Map<K, V> | undefined;

  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
  }

  /** The content now. Later changes do not affect it. */
  share(): ReadonlyMap<K, V> {
    this.#own = undefined;
    return this.#map;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  values(): MapIterator<V> {
    return this.#map.values();
  }

  set(key: K, value: V): void {
    this.#change().set(key, value);
  }

  delete(key: K): void {
    if (this.#map.has(key)) this.#change().delete(key);
  }

  #change(): Map<K, V> {
    this.#own ??= new Map(this.#map);
    this.#map = this.#own;
    return this.#own;
  }
}
