/**
 * The loop of a controller: passes objects of one kind to its workers, one at a time, each at least as new as our
 * writes.
 * @module
 */
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Clock, Sleeper } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import { isKubeError } from "../kube/api/errors.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import { type Key, type StoreReader, toKey } from "../kube/cache/store.ts";
import { type ReconcileOutcome, type ReconcileResult, Workers } from "./workers.ts";
import { type LoopMetrics, WorkQueue } from "./work_queue.ts";

/** What the loops of a process share. */
export interface LoopContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly loopMetrics: LoopMetrics;
}

/** What makes one loop differ from another. */
export interface ObjectLoopOptions<T extends KubeObject> {
  readonly context: LoopContext;
  /** Name in logs and metrics: `cloud-node`. */
  readonly name: string;
  /** Name of the work queue in metrics. */
  readonly queueName: string;
  /** The kind that a key names, in logs: `node`. */
  readonly noun: string;
  /** The objects to work on. */
  readonly objects: StoreReader<T>;
  /** How many objects are worked on at once. */
  readonly workers: number;
  /**
   * All fields of an object that {@linkcode reconcile} reads. Other changes are ignored: if heartbeats of kubelets
   * counted, every Node that waits for its machine would ask the cloud with each heartbeat, in spite of its back-off.
   */
  readonly inputs: (object: T) => readonly unknown[];
  /** Whether another change matters as well. @default {none does} */
  readonly isDrift?: (before: T, after: T) => boolean;
  /**
   * Brings one object to its desired state. The object is at least as new as every write of ours.
   *
   * @param detach Gives the worker back now, because the reconcile is about to wait for other work
   */
  readonly reconcile: (
    object: T,
    signal: AbortSignal,
    detach: () => void,
  ) => Promise<ReconcileResult>;
  /** How long a reconcile may hold a worker, in milliseconds, see {@linkcode Workers}. @default {until it ends} */
  readonly sliceMs?: number;
  /** Forgets an object that is gone. */
  readonly forget: (key: Key) => void;
  /**
   * The last state of an object that is gone and still needs {@linkcode reconcile}, until this returns `undefined`.
   *
   * @default {no object does}
   */
  readonly findGone?: (key: Key) => T | undefined;
  /** Other reasons to reconcile objects. @default {none} */
  readonly sources?: readonly KeySource[];
  /**
   * Finds out what must be known before the first reconcile, in every run. No object is reconciled before that.
   *
   * @default {nothing}
   */
  readonly prepare?: (signal: AbortSignal) => Promise<void>;
  /** How often {@linkcode onTick} is called, in milliseconds. @default {never} */
  readonly tickIntervalMs?: number;
  /** @default {reconciles every object} */
  readonly onTick?: () => void;
  /**
   * Whether nothing can be due before an object is reconciled or a source reports a change: then the loop does not
   * tick, because waking up an idle process costs more than the work itself. @default {() => false}
   */
  readonly isAtRest?: () => boolean;
  /** Whether {@linkcode ObjectLoop.outcomes} keeps only failures, which are few of thousands. @default {false} */
  readonly forgetsSuccesses?: boolean;
  /** Delay after the first failure of an object, in milliseconds; it doubles up to 5 min. @default {1_000} */
  readonly backoffMs?: number;
}

/**
 * Most reconciles find nothing to do and never wait. After this number other work gets its turn: thousands in a row, as
 * at a start with many Nodes, would delay probes and the renewal of the Lease.
 */
const TURN_LENGTH = 20;

/** A queue of objects, its workers, and everything that fills it. */
export class ObjectLoop<T extends KubeObject> {
  readonly #options: ObjectLoopOptions<T>;
  readonly #queue: WorkQueue;
  readonly #workers: Workers;
  /** Objects that another program wrote first. The watch brings the newer ones. */
  readonly #deferred = new Set<Key>();
  /** Objects that wait for a view that reconciles read. */
  readonly #held = new Set<Key>();
  #reconciles = 0;
  /** Ends the run; nothing runs before. */
  #stop: AbortSignal = AbortSignal.abort();
  /** Rests while all is well. */
  readonly #sleeper: Sleeper;

  constructor(options: ObjectLoopOptions<T>) {
    const { name, noun, queueName, objects, workers, forgetsSuccesses = false } = options;
    const { backoffMs, sliceMs } = options;
    const { clock, log, loopMetrics: metrics } = options.context;
    this.#options = options;
    this.#sleeper = new Sleeper(clock);
    this.#queue = new WorkQueue({ name: queueName, clock, metrics, backoffMs });
    this.#workers = new Workers({
      name,
      noun,
      queue: this.#queue,
      workers,
      reconcile: (key, signal, detach) =>
        this.#reconcile(key, signal, detach).finally(() => this.#stir()),
      sliceMs,
      exists: (key) => (objects.get(key) ?? options.findGone?.(key)) !== undefined,
      forgetsSuccesses,
      clock,
      log,
      metrics,
    });
  }

  /** The last outcome of each object. */
  get outcomes(): ReadonlyMap<Key, ReconcileOutcome> {
    return this.#workers.outcomes;
  }

  /** Reconciles an object soon. */
  enqueue(key: Key): void {
    this.#queue.add(key);
  }

  /** Reconciles an object soon, unless it failed and waits for its next try. */
  enqueueUnlessWaiting(key: Key): void {
    if (this.#queue.remainingMs(key) === undefined) this.#queue.add(key);
  }

  /** Reconciles every object soon. */
  enqueueAll(): void {
    for (const key of this.#options.objects.keys()) this.#queue.add(key);
  }

  /** Runs until the signal aborts and running reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { objects, sources = [] } = this.#options;
    this.#stop = signal;
    const unsubscribe = [
      objects.subscribe((key, before, after) => {
        if (this.#deferred.delete(key) || this.#isRelevant(before, after)) this.#queue.add(key);
      }),
      ...sources.map((source) =>
        source.subscribe((keys) => {
          for (const key of keys) this.#queue.add(key);
          this.#stir();
        }),
      ),
    ];
    try {
      const work = this.#prepare(signal).then(() => this.#workers.run(signal));
      await Promise.all([work, this.#tick(signal)]);
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  async #reconcile(key: Key, signal: AbortSignal, detach: () => void): Promise<ReconcileResult> {
    const { objects, sources = [], reconcile, forget, findGone } = this.#options;
    this.#reconciles += 1;
    if (this.#reconciles % TURN_LENGTH === 0) await setImmediate();
    const seen = objects.get(key);
    if (seen === undefined) this.#deferred.delete(key);
    const object = seen ?? findGone?.(key);
    if (object === undefined) {
      forget(key);
      return {};
    }
    const missing = sources.find(({ reader }) => reader?.synced === false)?.reader;
    if (missing !== undefined) return this.#hold(key, missing);
    // What it lacks may decide. The cache has said so.
    if (object.metadata.isStub) return { isPending: true };
    try {
      return await reconcile(object, signal, detach);
    } catch (error) {
      if (isKubeError(error, "conflict")) this.#expectNewer(key, object);
      throw error;
    }
  }

  /** Waits until all views have what the last leader wrote, and everything else is known. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const { objects, sources = [], prepare } = this.#options;
    const readers = [objects, ...sources.flatMap(({ reader }) => reader ?? [])];
    try {
      await Promise.all([...readers.map((reader) => reader.catchUp(signal)), prepare?.(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** A controller that cannot see its own objects would create them again: waits for the missing view. */
  #hold(key: Key, missing: NonNullable<KeySource["reader"]>): ReconcileResult {
    this.#held.add(key);
    if (this.#held.size === 1) {
      missing.untilSynced(this.#stop).then(
        () => this.#release(),
        () => undefined,
      );
    }
    return { isPending: true };
  }

  #release(): void {
    for (const key of this.#held) this.#queue.add(key);
    this.#held.clear();
  }

  /** Another program wrote first: reconciles the object that the watch brings, before the back-off ends. */
  #expectNewer(key: Key, refused: T): void {
    if (this.#options.objects.get(key) === refused) this.#deferred.add(key);
    else this.#queue.add(key);
  }

  #isRelevant(before: T | undefined, after: T | undefined): boolean {
    if (before === undefined || after === undefined) return true;
    if (before.metadata.isStub !== after.metadata.isStub) return true;
    const { inputs, isDrift } = this.#options;
    if (isDrift?.(before, after)) return true;
    return !isDeepStrictEqual(inputs(before), inputs(after));
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { context, tickIntervalMs, onTick, isAtRest } = this.#options;
    if (tickIntervalMs === undefined) return;
    while (!signal.aborted) {
      if (isAtRest?.()) await this.#sleeper.sleep(Infinity, signal);
      await context.clock.sleep(tickIntervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (onTick) onTick();
      else this.enqueueAll();
    }
  }

  #stir(): void {
    if (!this.#options.isAtRest?.()) this.#sleeper.wake();
  }
}

/** An input of reconciles that says which objects to reconcile when it changes. */
export interface KeySource {
  /**
   * Calls `listener` at each change with the keys of the objects to reconcile; without keys, a loop at rest checks
   * again whether something is due. Returns the function that ends this.
   */
  subscribe(listener: (keys: Iterable<Key>) => void): () => void;
  /** A view that reconciles read: no object is reconciled before it is synced. @default {none} */
  readonly reader?: Pick<StoreReader<KubeObject>, "catchUp" | "synced" | "untilSynced">;
}

/**
 * Objects of another kind that a reconcile reads, for example those that it created. If one changes, the objects to
 * which it belonged before and those to which it belongs now are reconciled. If one is deleted, those to which it
 * belonged last.
 *
 * @param toKeys The keys of the objects that one of the other kind belongs to; may be empty
 */
export function fromSecondary<T extends KubeObject>(
  secondaries: StoreReader<T>,
  toKeys: (secondary: T) => Iterable<Key>,
): KeySource {
  return {
    subscribe: (listener) =>
      secondaries.subscribe((_key, before, after) =>
        listener(new Set([...(before ? toKeys(before) : []), ...(after ? toKeys(after) : [])])),
      ),
    reader: secondaries,
  };
}

/**
 * Creates the function for {@linkcode fromSecondary} that follows owner references. The version of the API does not
 * matter: the object is the same in each.
 *
 * @param owner The kind of the owners; a namespaced one owns within its namespace
 */
export function toOwnerKeys(owner: Resource<KubeObject>): (owned: KubeObject) => Key[] {
  return ({ metadata: { namespace, ownerReferences = [] } }) => {
    const place = owner.namespaced && namespace !== undefined ? { namespace } : {};
    return ownerReferences
      .filter(
        ({ apiVersion, kind }) => kind === owner.kind && isSameGroup(apiVersion, owner.apiVersion),
      )
      .map(({ name }) => toKey({ metadata: { name, ...place } }));
  };
}

/** `v1` and `apps/v1`: the core group has no name. */
function isSameGroup(one: string, other: string): boolean {
  const toGroup = (apiVersion: string): string => apiVersion.split("/").slice(0, -1).join("/");
  return toGroup(one) === toGroup(other);
}
