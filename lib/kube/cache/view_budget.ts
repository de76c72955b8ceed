/**
 * Keeps the objects of one view within its part of the memory. One user may write any number of large objects,
 * and all others must be served all the same: what has no place becomes a stub.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kinds/resource.ts";
import { STUB_BYTES, toStub } from "../kinds/trim.ts";
import { type Key, toKey } from "./store.ts";

interface ViewBudgetOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** For objects that are larger than a stub. The others have twice as much. */
  readonly bytesMax: number;
  /** What the store has. */
  readonly find: (key: Key) => T | undefined;
  /** Called for each new stub. */
  readonly onStub: (stub: T, bytes: number) => void;
}

interface Large {
  readonly bytes: number;
  readonly namespace: string;
}

/** Most of the large objects that one namespace may have, so that it does not take the place of others. */
const NAMESPACE_SHARE = 3 / 4;

/** What one view holds. */
export class ViewBudget<T extends KubeObject> {
  /** The same kind, but its trimmed objects are within the budget. */
  readonly kind: Kind<T>;
  readonly #options: ViewBudgetOptions<T>;
  /** Bytes of the objects that are no larger than a stub. Stubs are among them. */
  readonly #small = new Map<Key, number>();
  readonly #large = new Map<Key, Large>();
  readonly #stubs = new Set<Key>();
  readonly #largeByNamespace = new Map<string, number>();
  #smallBytes = 0;
  #largeBytes = 0;

  constructor(options: ViewBudgetOptions<T>) {
    this.#options = options;
    this.kind = { ...options.kind, limit: (trimmed, bytes) => this.#take(trimmed, bytes) };
  }

  /** How many objects are stubs because they had no place. */
  get stubs(): number {
    return this.#stubs.size;
  }

  /** Whether a new list may find a place for stubs. */
  get hasRoom(): boolean {
    return this.stubs > 0 && this.#largeBytes <= this.#options.bytesMax / 2;
  }

  /** Forgets an object that the store does not have any more. */
  forget(key: Key): void {
    this.#stubs.delete(key);
    this.#smallBytes -= this.#small.get(key) ?? 0;
    this.#small.delete(key);
    const large = this.#large.get(key);
    if (large === undefined) return;
    this.#large.delete(key);
    this.#countLarge(large.namespace, -large.bytes);
  }

  #take(trimmed: T, bytes: number): T {
    const key = toKey(trimmed);
    const known = this.#options.find(key);
    // A list shows what is there already: two copies would need twice the memory.
    if (known !== undefined && isSame(known, trimmed)) return known;
    const wasStub = this.#stubs.has(key);
    this.forget(key);
    const { namespace = "" } = trimmed.metadata;
    if (bytes > STUB_BYTES && this.#hasPlace(namespace, bytes)) {
      this.#large.set(key, { bytes, namespace });
      this.#countLarge(namespace, bytes);
      return trimmed;
    }
    // Even stubs may be too many. Then they have only names.
    const isFull = this.#smallBytes + Math.min(bytes, STUB_BYTES) > 2 * this.#options.bytesMax;
    const isStub = isFull || bytes > STUB_BYTES;
    const stub = isStub ? toStub(trimmed, isFull ? 0 : STUB_BYTES) : trimmed;
    const stubBytes = isFull ? 0 : Math.min(bytes, STUB_BYTES);
    this.#small.set(key, stubBytes);
    this.#smallBytes += stubBytes;
    if (isStub) this.#stubs.add(key);
    if (isStub && !wasStub) this.#options.onStub(stub, bytes);
    return stub;
  }

  #hasPlace(namespace: string, bytes: number): boolean {
    const { bytesMax } = this.#options;
    const ofNamespace = (this.#largeByNamespace.get(namespace) ?? 0) + bytes;
    const namespaceMax = namespace === "" ? bytesMax : bytesMax * NAMESPACE_SHARE;
    return this.#largeBytes + bytes <= bytesMax && ofNamespace <= namespaceMax;
  }

  #countLarge(namespace: string, change: number): void {
    this.#largeBytes += change;
    const bytes = (this.#largeByNamespace.get(namespace) ?? 0) + change;
    if (bytes > 0) this.#largeByNamespace.set(namespace, bytes);
    else this.#largeByNamespace.delete(namespace);
  }
}

function isSame(known: KubeObject, other: KubeObject): boolean {
  const isVersion = known.metadata.resourceVersion === other.metadata.resourceVersion;
  return isVersion && isDeepStrictEqual(known, other);
}
