/**
 * The newest state of each Service: that of the store, or what our own writes made of it since.
 * @module
 */
import type { WrittenVersions } from "../../../engine/written_versions.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import { type Service, SERVICES } from "../../../kube/kinds/service.ts";
import { trimObject } from "../../../kube/kinds/trim.ts";

/** Services by key. Holds a copy of its own only until the watch shows it. */
export class NewestServices {
  readonly #store: StoreReader<Service>;
  readonly #written: WrittenVersions;
  readonly #own = new Map<Key, Service>();

  constructor(store: StoreReader<Service>, written: WrittenVersions) {
    this.#store = store;
    this.#written = written;
  }

  /** A Service as it is now, as far as this process knows. */
  get(key: Key): Service | undefined {
    const seen = this.#store.get(key);
    const own = this.#own.get(key);
    if (own === undefined) return seen;
    const isSame = seen?.metadata.uid === own.metadata.uid;
    if (seen !== undefined && isSame && this.#written.isStale(seen)) return own;
    this.#own.delete(key);
    return seen;
  }

  /** All Services. */
  *values(): Iterable<Service> {
    for (const key of this.#store.keys()) {
      const service = this.get(key);
      if (service !== undefined) yield service;
    }
  }

  /** Forgets a Service that is gone. */
  forget(key: Key): void {
    this.#own.delete(key);
  }

  /** Takes the answer to a write. Returns it as the store would keep it. */
  note(before: Service, answer: Service): Service {
    const after = trimObject(SERVICES, answer);
    this.#written.note(before, after);
    this.#own.set(toKey(after), after);
    return after;
  }
}
