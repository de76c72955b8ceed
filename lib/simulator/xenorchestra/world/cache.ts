/**
 * The memory of xo-server, from which it answers every read and feeds its streams of events. It follows the hypervisor
 * late: a client that reads right after the answer to its own change still sees what was before.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import { type Collection, COLLECTIONS, isCollection, type XoRecord } from "../records.ts";
import { hash } from "node:crypto";

/** How late the cache shows what changed. */
export interface Lag {
  /** In milliseconds. */
  readonly minMs: number;
  /** In milliseconds. */
  readonly maxMs: number;
  /** Another one, other times between the two. */
  readonly seed: number;
}

/** As a real xo-server did, with a margin. */
export const MEASURED_LAG: Lag = { minMs: 100, maxMs: 250, seed: 1 };

/** An object, and its collection now: a template that becomes a machine keeps its ID. */
interface Located {
  readonly collection: Collection;
  readonly record: XoRecord;
}

interface Pending {
  readonly atMs: number;
  readonly dueMs: number;
  /** What is shown then. `live`: what is there now, since nothing changed after it. `undefined`: nothing. */
  state: Located | "live" | undefined;
}

interface Late {
  shown: Located | undefined;
  readonly pending: Pending[];
}

/** What xo-server keeps itself. It knows that at once. */
const OWN: ReadonlySet<Collection> = new Set(["servers", "tasks"]);
/**
 * So late do lists show a task that begins; a read of that task alone shows it at once. A list of a real xo-server with
 * much to do lacked a task 9 ms after the answer with its ID.
 */
const KEPT_MS = 20;
/** Changes within this time are one, such as those of one call of the hypervisor. */
const TOGETHER_MS = 5;

/**
 * What the cache shows of objects that a call of the hypervisor changed a moment ago. Of all others it shows what is
 * there: when something happened that no call did, no client knows anyway.
 */
class Cache {
  readonly #clock: Clock;
  readonly #lag: Lag;
  readonly #late = new Map<string, Late>();
  #isCalled = false;

  constructor(clock: Clock, lag: Lag) {
    this.#clock = clock;
    this.#lag = lag;
  }

  /** Carries out what a call of the hypervisor changes. */
  call<T>(effect: () => T): T {
    this.#isCalled = true;
    try {
      return effect();
    } finally {
      this.#isCalled = false;
    }
  }

  /** Must be called right before an object changes, appears or goes. @param now The object as it is until then */
  beforeChange(collection: Collection, id: string, now: XoRecord | undefined): void {
    if (!this.#isCalled || OWN.has(collection) || this.#lag.maxMs === 0) return;
    const nowMs = this.#clock.monotonic();
    const state = now && { collection, record: copy(now) };
    const late = this.#settle(id) ?? { shown: state, pending: [] };
    const last = late.pending.at(-1);
    // What goes from one collection comes to another one in the same moment.
    if (last !== undefined && nowMs - last.atMs < TOGETHER_MS) return;
    if (last !== undefined) last.state = state;
    const dueMs = Math.max(last?.dueMs ?? 0, nowMs + this.#toLagMs(id, nowMs));
    late.pending.push({ atMs: nowMs, dueMs, state: "live" });
    this.#late.set(id, late);
  }

  /** What is shown of an object. @param live The object as it is; `undefined` if this collection does not have it */
  show(collection: Collection, id: string, live: XoRecord | undefined): XoRecord | undefined {
    const late = this.#settle(id);
    if (late === undefined) return live;
    return late.shown?.collection === collection ? late.shown.record : undefined;
  }

  /** All that is shown of a collection. @param live Its objects as they are */
  list(collection: Collection, live: ReadonlyMap<string, XoRecord>): XoRecord[] {
    const shown = [...live].flatMap(([id, record]) => this.show(collection, id, record) ?? []);
    if (collection === "tasks" && this.#lag.maxMs > 0) {
      const sinceMs = this.#clock.now() - KEPT_MS;
      return shown.filter(({ start }) => Number(start) <= sinceMs);
    }
    for (const id of this.#late.keys()) {
      const record = live.has(id) ? undefined : this.show(collection, id, undefined);
      if (record !== undefined) shown.push(record);
    }
    return shown;
  }

  /** Shows an object as it is. */
  catchUp(id: string): void {
    this.#late.delete(id);
  }

  /** Reads everything again, as a process does that starts. */
  reload(): void {
    this.#late.clear();
  }

  /** Lets become visible what is due. @returns `undefined` if nothing is late */
  #settle(id: string): Late | undefined {
    const late = this.#late.get(id);
    if (late === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    for (let next = late.pending[0]; next !== undefined && next.dueMs <= nowMs;) {
      if (next.state === "live") {
        this.#late.delete(id);
        return undefined;
      }
      late.shown = next.state;
      late.pending.shift();
      next = late.pending[0];
    }
    return late;
  }

  #toLagMs(id: string, atMs: number): number {
    const { minMs, maxMs, seed } = this.#lag;
    const part = hash("sha1", `${seed}/${id}/${atMs}`, "hex").slice(0, 8);
    return minMs + (Number.parseInt(part, 16) / 0xffff_ffff) * (maxMs - minMs);
  }
}

/** A copy of a record, also of one that tells its changes. */
export function copy(record: XoRecord): XoRecord {
  const copied = { ...record };
  for (const field of Object.keys(copied)) copied[field] = copyJson(copied[field]);
  return copied;
}

/** Records hold only JSON, and `structuredClone` takes five times as long for it. */
function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value !== "object" || value === null) return value;
  const copied: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) copied[key] = copyJson(inner);
  return copied;
}

/** A record that tells when it is about to change. */
function watched(record: XoRecord, beforeChange: () => void): XoRecord {
  return new Proxy(record, {
    set: (target, field, value) => {
      if (!Object.is(Reflect.get(target, field), value)) beforeChange();
      return Reflect.set(target, field, value);
    },
    deleteProperty: (target, field) => {
      if (Object.hasOwn(target, field)) beforeChange();
      return Reflect.deleteProperty(target, field);
    },
  });
}

/** All records. Their fields may be changed in place. */
export class Store {
  readonly #records: ReadonlyMap<Collection, Map<string, XoRecord>>;
  readonly #cache: Cache;
  /** How often records have changed. */
  readonly #revisions = new WeakMap<XoRecord, number>();

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

  /** Another number, and a record is not as it was. */
  revisionOf(record: XoRecord): number {
    return this.#revisions.get(record) ?? 0;
  }

  /** Adds or replaces a record. */
  put(collection: Collection, record: XoRecord): void {
    const records = this.#collection(collection);
    const { id } = record;
    const beforeChange = (): void => {
      const now = records.get(id);
      this.#revisions.set(kept, this.revisionOf(kept) + 1);
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

  /** Lets the cache show an object as it is, for a request that waits for it. */
  catchUp(id: string): void {
    this.#cache.catchUp(id);
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
