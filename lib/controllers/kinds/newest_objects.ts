/**
 * The newest state of each object of a kind: that of the store, or what our own writes made of it since.
 * @module
 */
import type { WrittenVersions } from "../../engine/written_versions.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import type { Kind } from "../../kube/kinds/kind.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";
import { trimObject } from "../../kube/kinds/trim.ts";

/** Objects by key. Holds a copy of its own only until the watch shows it. */
export class NewestObjects<T extends KubeObject> {
  readonly #kind: Kind<T>;
  readonly #store: StoreReader<T>;
  readonly #written: WrittenVersions;
  readonly #own = new Map<Key, T>();

  constructor(kind: Kind<T>, store: StoreReader<T>, written: WrittenVersions) {
    this.#kind = kind;
    this.#store = store;
    this.#written = written;
  }

  /** An object as it is now, as far as this process knows. */
  get(key: Key): T | undefined {
    const seen = this.#store.get(key);
    const own = this.#own.get(key);
    if (own === undefined) return seen;
    const isSame = seen?.metadata.uid === own.metadata.uid;
    if (seen !== undefined && isSame && this.#written.isStale(seen)) return own;
    this.#own.delete(key);
    return seen;
  }

  /** All objects. */
  *values(): Iterable<T> {
    for (const key of this.#store.keys()) {
      const object = this.get(key);
      if (object !== undefined) yield object;
    }
  }

  /** Forgets an object that is gone. */
  forget(key: Key): void {
    this.#own.delete(key);
  }

  /** Takes the answer to a write. Returns it as the store would keep it. */
  note(before: T, answer: T): T {
    const after = trimObject(this.#kind, answer);
    this.#written.note(before, after);
    this.#own.set(toKey(after), after);
    return after;
  }
}
