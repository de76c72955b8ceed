/**
 * A view of each kind that controllers ask for: its watcher, its store, and its part of the memory.
 * @module
 */
import { assert } from "../../core/errors.ts";
import { toBackoffMs } from "../../core/clock.ts";
import { BUDGET } from "../../core/budget.ts";
import { matchesLabels, parseLabelSelector } from "../../core/text/label.ts";
import { type Fields, formatAbout, formatSize, isFields } from "../../core/text/values.ts";
import type { Follower, KubeClient, Selection } from "../api/client.ts";
import { KubeError } from "../api/errors.ts";
import type { EventRecorder } from "../events/events.ts";
import { type EventWord, toEvent } from "../events/words.ts";
import {
  findDamage,
  type Kind,
  type KubeObject,
  type ObjectPath,
  type Resource,
  STUB_BYTES,
  toStub,
} from "../kinds/resource.ts";
import { type Key, Store, type StoreReader, toKey } from "./store.ts";
import { runWatcher, type WatcherOptions } from "./watcher.ts";
import { isDeepStrictEqual } from "node:util";

/** What {@linkcode Caches} need. All watchers share it. */
interface CachesOptions extends Pick<
  WatcherOptions<KubeObject>,
  "client" | "clock" | "log" | "metrics" | "random" | "recovery"
> {
  /** Reports objects that are too large. @default {they are only logged} */
  readonly events?: EventRecorder;
}

/** The state of the view of a kind. */
export interface CacheState {
  /** Plural name: `nodes`. */
  readonly resource: string;
  /** Group and version: `v1`, `example.org/v1`. */
  readonly apiVersion: string;
  /** Which objects: `labelSelector=a`. Absent: all of them. */
  readonly selection?: string;
  /** Whether the first list is in the store. */
  readonly synced: boolean;
  /** Whether the last answer said that the API server does not serve the kind. */
  readonly missing: boolean;
  /** Whether all callers of the view can work without it. @default {false} */
  readonly isOptional?: true;
}

/** The Events, written on the object. Frozen: they must not change. */
export const CACHE_EVENTS: Readonly<Record<"tooLarge", EventWord>> = {
  tooLarge: {
    reason: "TooLarge",
    type: "Warning",
    meaning:
      "Landfall has no memory for the object, because it or the others of its namespace are large. " +
      "It does nothing for the object until there is room.",
  },
};

const SELECTED_BY = ["namespace", "labelSelector", "fieldSelector"] as const;

/** How often the log and an Event may name a large object of one namespace. */
const NAMED_MS = 600_000;
/** How long after a large object is gone the others may get its place. */
const ROOM_MS = 60_000;

/** First and longest pause between two searches for a missing kind. */
const LOOK_PAUSE = { baseMs: 2_000, capMs: 60_000, jitter: 0.5 } as const;

/**
 * Views of the API server's objects, each with a watcher. Callers that ask for the same objects of the same kind share
 * one.
 *
 * If the API server does not serve a kind, Landfall looks for it until it appears. Nothing else waits for it: its view
 * is empty and not synced. If a kind is removed later, its view becomes empty after the API server said twice that the
 * kind does not exist.
 */
export class Caches {
  readonly #options: CachesOptions;
  readonly #caches: AnyCache[] = [];
  #isRunning = false;

  constructor(options: CachesOptions) {
    this.#options = options;
  }

  /**
   * The view of a kind, or of a part of it. Ask before {@linkcode run}.
   *
   * @param kind The same object for all callers that share a view: two that keep different fields are two kinds
   * @param selection Which objects. @default {all of them}
   */
  reader<T extends KubeObject>(kind: Kind<T>, selection: Selection = {}): StoreReader<T> {
    const cache = this.#find(kind, selection);
    cache.isOptional = false;
    return cache.store;
  }

  /** The same for an optional view. Nothing waits for it, for example if the right to list the kind is missing. */
  optionalReader<T extends KubeObject>(kind: Kind<T>): StoreReader<T> {
    return this.#find(kind, {}).store;
  }

  /**
   * The same client, but an answer about an object is in the views of its kind before the caller has it. So no
   * controller sees an object as it was before its own write.
   */
  follow(client: KubeClient): KubeClient {
    return client.followedBy((resource, path) => {
      const answers = this.#caches.flatMap((cache) =>
        cache.isOfKind(resource) ? [cache.follow(path)] : [],
      );
      return {
        learn: (object) => answers.forEach((answer) => answer.learn(object)),
        learnGone: (uid) => answers.forEach((answer) => answer.learnGone(uid)),
      };
    });
  }

  #find<T extends KubeObject>(kind: Kind<T>, selection: Selection): Cache<T> {
    assert(!this.#isRunning, "ask for caches before they run");
    for (const cache of this.#caches) if (cache.isOf(kind, selection)) return cache;
    const cache = new Cache(kind, selection, this.#options);
    this.#caches.push(cache);
    return cache;
  }

  /** The state of each view, in the order of the calls. */
  get states(): readonly CacheState[] {
    return this.#caches.map((cache) => cache.state);
  }

  /** Keeps all views up to date. Ends only by the signal. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    await Promise.all(this.#caches.map((cache) => cache.run(signal)));
  }
}

/** A cache of some kind. */
interface AnyCache {
  readonly state: CacheState;
  /** Whether this cache has these objects of this kind. */
  isOf<K extends KubeObject>(kind: Kind<K>, selection: Selection): this is Cache<K>;
  /** Whether this cache has objects of this kind, also if it keeps other fields. */
  isOfKind<K extends KubeObject>(kind: Resource<K>): this is Cache<K>;
  run(signal: AbortSignal): Promise<void>;
}

class Cache<T extends KubeObject> implements AnyCache {
  readonly store: Store<T>;
  /** Until a caller needs the view. */
  isOptional = true;
  readonly #kind: Kind<T>;
  readonly #selection: Selection;
  readonly #isSelected: (object: KubeObject) => boolean;
  readonly #options: CachesOptions;
  readonly #budget: ViewBudget<T>;
  /** When a large object of a namespace was named last. */
  readonly #named = new Map<string, number>();
  #waitsForRoom = false;
  #countedStubs = 0;
  /** The last answer of the API server about the kind. */
  #serving: Serving = "served";

  constructor(kind: Kind<T>, selection: Selection, options: CachesOptions) {
    const { client, clock, log } = options;
    const readVersion = async (signal: AbortSignal): Promise<string> => {
      const page = await client.list(kind, { ...selection, limit: 1 }, signal);
      return page.resourceVersion;
    };
    this.#budget = new ViewBudget<T>({
      kind,
      bytesMax: kind.isAlwaysWhole ? Infinity : BUDGET.view,
      find: (key) => this.store.get(key),
      onStub: (stub, bytes) => this.#name(stub, bytes),
    });
    this.store = new Store({ resource: this.#budget.kind, log, clock, readVersion });
    this.#kind = kind;
    this.#selection = selection;
    this.#isSelected = toFilter(selection);
    this.#options = options;
  }

  get state(): CacheState {
    const missing = this.#serving !== "served";
    const { synced } = this.store;
    const optional = this.isOptional ? ({ isOptional: true } as const) : {};
    const { plural: resource, apiVersion } = this.#kind;
    const selection = formatSelection(this.#selection);
    return { resource, apiVersion, ...selection, synced, missing, ...optional };
  }

  isOf<K extends KubeObject>(kind: Kind<K>, selection: Selection): this is Cache<K> {
    const isSame = SELECTED_BY.every((name) => this.#selection[name] === selection[name]);
    return isSame && Object.is(this.#kind, kind);
  }

  isOfKind<K extends KubeObject>({ apiVersion, plural }: Resource<K>): this is Cache<K> {
    return this.#kind.apiVersion === apiVersion && this.#kind.plural === plural;
  }

  /** Before a request for an object. */
  follow({ namespace = "", name = "" }: ObjectPath): Follower<T> {
    const { store } = this;
    const key = toKey({ metadata: { namespace, name } });
    const seen = store.get(key);
    return {
      learn: (object) => {
        const damage = findDamage(this.#kind, object);
        if (damage !== undefined) {
          throw new KubeError("unavailable", `Cannot use ${this.#kind.kind} "${key}": ${damage}`);
        }
        if (this.#isSelected(object)) store.learn(object, seen);
      },
      learnGone: (uid) => store.learnGone({ metadata: { namespace, name, uid } }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    this.store.subscribe((key) => {
      if (this.store.get(key) === undefined) this.#budget.forget(key);
      this.#countStubs();
      if (this.#budget.hasRoom) void this.#listForRoom(signal);
    });
    const watcher = {
      ...this.#options,
      resource: this.#budget.kind,
      selection: this.#selection,
      store: this.store,
      isAway: (error: unknown) => this.#isAway(error, signal),
    };
    while (!signal.aborted) {
      await runWatcher(watcher, signal);
      if (!signal.aborted) await this.#waitUntilServed(signal);
    }
  }

  #countStubs(): void {
    const { stubs } = this.#budget;
    if (stubs === this.#countedStubs) return;
    const { metrics } = this.#options;
    const labels = { resource: this.#kind.plural };
    // Other views of the same kind have stubs, too.
    metrics?.stubs.set(metrics.stubs.value(labels) + stubs - this.#countedStubs, labels);
    this.#countedStubs = stubs;
  }

  /** Lists again, once, when objects that are gone may have left a place for stubs. */
  async #listForRoom(signal: AbortSignal): Promise<void> {
    if (this.#waitsForRoom) return;
    this.#waitsForRoom = true;
    // Only the signal can reject this.
    await this.#options.clock.sleep(ROOM_MS, signal).catch(() => undefined);
    this.#waitsForRoom = false;
    if (!signal.aborted && this.#budget.hasRoom) this.store.requestList();
  }

  /** Reports who has objects that are too large; not each of them, because they may be thousands. */
  #name(stub: T, bytes: number): void {
    const { clock, log, events } = this.#options;
    const { namespace = "" } = stub.metadata;
    const nowMs = clock.monotonic();
    if (nowMs - (this.#named.get(namespace) ?? -Infinity) < NAMED_MS) return;
    this.#named.set(namespace, nowMs);
    const size = formatAbout(bytes);
    const memory = formatSize(BUDGET.memory);
    const { kind, plural: resource } = this.#kind;
    log.warn("Object is too large for the memory of this process", {
      resource,
      object: toKey(stub),
      size,
      stubs: this.#budget.stubs,
      memory,
    });
    const message =
      `Landfall keeps only a part of this ${kind} and does nothing for it: it takes ${size}, and with other large ` +
      `objects that is too much for ${memory} of memory. Make them smaller, delete some, or raise the memory limit`;
    events?.record(stub, toEvent(CACHE_EVENTS.tooLarge, message));
  }

  /** A 404 for a whole collection is only a reason to check. */
  async #isAway(error: unknown, signal: AbortSignal): Promise<boolean> {
    if (!(error instanceof KubeError) || error.code !== 404) return false;
    this.#serving = (await this.#look(signal)) ?? "served";
    return this.#serving !== "served";
  }

  async #waitUntilServed(signal: AbortSignal): Promise<void> {
    const { clock, log, random = Math.random } = this.#options;
    const { apiVersion, plural } = this.#kind;
    const [group = "", version] = apiVersion.split("/");
    const fields = { crd: `${plural}.${group}`, version };
    log.warn("CustomResourceDefinition is missing; install it in this version", fields);
    for (let looks = 1; this.#serving !== "served"; looks += 1) {
      const pauseMs = toBackoffMs(looks, { ...LOOK_PAUSE, random });
      // Only the signal can reject this.
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const serving = await this.#look(signal);
      if (serving === undefined) continue;
      // With several API servers, one may be outdated: a kind that it does not know yet is not gone.
      const isGone = serving === "missing" && this.#serving === "missing";
      if (isGone && this.store.synced) this.store.clear();
      this.#serving = serving;
    }
    log.info("CustomResourceDefinition was found", fields);
  }

  /** The answer of the API server; `undefined` if it cannot be reached. */
  async #look(signal: AbortSignal): Promise<Serving | undefined> {
    try {
      return await findServing(this.#options.client, this.#kind, signal);
    } catch (error) {
      if (error instanceof KubeError || signal.aborted) return undefined;
      throw error;
    }
  }
}

function formatSelection(selection: Selection): Pick<CacheState, "selection"> {
  const parts = SELECTED_BY.flatMap((name) => {
    const value = selection[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  return parts.length === 0 ? {} : { selection: parts.join(" ") };
}

/** Tells whether an object is one of a selection. Of the fields, only those of `metadata` with a value are known. */
function toFilter({
  namespace,
  labelSelector = "",
  fieldSelector = "",
}: Selection): (object: KubeObject) => boolean {
  const wanted = labelSelector === "" ? [] : parseLabelSelector(labelSelector);
  assert(wanted !== undefined, `"${labelSelector}" is no label selector`);
  const terms = fieldSelector.split(",").filter((term) => term !== "");
  return ({ metadata }) => {
    const { name, namespace: own } = metadata;
    const fields = new Set([`metadata.name=${name}`, `metadata.namespace=${own}`]);
    return (
      (namespace === undefined || namespace === own) &&
      matchesLabels(wanted, metadata.labels ?? {}) &&
      terms.every((term) => fields.has(term))
    );
  };
}

/**
 * Whether a kind is served.
 *
 * - `served`: in the requested version
 * - `otherVersion`: in other versions only. Its objects may exist
 * - `missing`: in no version, so it has no objects
 */
type Serving = "served" | "otherVersion" | "missing";

/**
 * Reads from the API server whether it serves a kind: a CustomResourceDefinition may be installed later, and may be
 * removed. A 404 proves nothing: for an unknown group, the API server
 * answers like any other server. Source:
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#unaggregated-discovery
 *
 * @throws {KubeError} when a list cannot be read, which proves nothing about the kind; `signal.reason`
 */
export async function findServing(
  client: KubeClient,
  { apiVersion, plural }: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<Serving> {
  const [group = "", version] = apiVersion.split("/");
  // The core group always exists.
  if (version === undefined) return "served";
  const ask = async (path: string, list: string): Promise<Fields[]> =>
    readEntries(await client.get(path, signal), list, path);
  const groups = await ask("/apis", "groups");
  const versions = groups
    .filter(({ name }) => name === group)
    .flatMap((found) => readEntries(found, "versions", "/apis"))
    .map(({ groupVersion }) => String(groupVersion));
  const serving: string[] = [];
  for (const one of versions) {
    const resources = await ask(`/apis/${one}`, "resources");
    if (resources.some(({ name }) => name === plural)) serving.push(one);
  }
  if (serving.includes(apiVersion)) return "served";
  return serving.length > 0 ? "otherVersion" : "missing";
}

/** The entries of a list in a reply of the API server. A proxy on the way may answer anything. */
function readEntries(value: unknown, list: string, path: string): Fields[] {
  const entries: unknown = isFields(value) ? value[list] : undefined;
  if (Array.isArray(entries) && entries.every(isFields)) return entries;
  throw new KubeError("unavailable", `Cannot get "${path}": the answer has no ${list}`);
}

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

/**
 * Keeps the objects of one view within its part of the memory. One user may write any number of large objects, and all
 * others must be served all the same: what has no place becomes a stub.
 */
class ViewBudget<T extends KubeObject> {
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
