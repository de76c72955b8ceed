/**
 * The loop of a controller: feeds objects of one kind to its workers, one at a time, and each as new as our own writes.
 * @module
 */
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import { Sleeper } from "../core/sleeper.ts";
import { isKubeError } from "../kube/api/errors.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";
import type { Key, StoreReader } from "../kube/cache/store.ts";
import {
  type Workers,
  type ReconcileMetrics,
  createWorkers,
  type ReconcileOutcome,
  type ReconcileResult,
} from "./workers.ts";
import type { KeySource } from "./key_sources.ts";
import { WorkQueue } from "./work_queue.ts";
import type { WorkQueueMetrics } from "./work_queue_metrics.ts";
import type { WrittenVersions } from "./written_versions.ts";

/** What the loops of a process share. */
export interface LoopContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queueMetrics: WorkQueueMetrics;
  readonly reconcileMetrics: ReconcileMetrics;
}

/** What makes one loop differ from another. */
export interface ObjectLoopOptions<T extends KubeObject> {
  readonly context: LoopContext;
  /** Name in logs and metrics: `cloud-node`. */
  readonly name: string;
  /** Name of the work queue in metrics. */
  readonly queueName: string;
  /** What a key is the name of, in logs: `node`. */
  readonly noun: string;
  /** The objects to work on. */
  readonly objects: StoreReader<T>;
  /** Shared by all that write objects of this kind. */
  readonly written: WrittenVersions;
  /** How many objects are worked on at once. */
  readonly workers: number;
  /**
   * Everything of an object that {@linkcode reconcile} looks at. What changes beside it is passed over: were heartbeats
   * of kubelets worked on, every Node that waits for its machine would ask the cloud at their pace, whatever its
   * back-off.
   */
  readonly inputs: (object: T) => readonly unknown[];
  /** Brings one object to where it should be. The object is as new as every write of ours. */
  readonly reconcile: (object: T, signal: AbortSignal) => Promise<ReconcileResult>;
  /** Drops what is remembered of an object that is gone. */
  readonly forget: (key: Key) => void;
  /** What else is a reason to look at objects. @default {nothing} */
  readonly sources?: readonly KeySource[];
  /** How often {@linkcode onTick} is called, in milliseconds. @default {never} */
  readonly tickIntervalMs?: number;
  /** @default {works on every object} */
  readonly onTick?: () => void;
  /**
   * Whether nothing can be due until an object was worked on or a source told of a change: then nothing ticks, for each
   * time that an idle process wakes up costs more than what it does. @default {() => false}
   */
  readonly isAtRest?: () => boolean;
  /** Whether {@linkcode ObjectLoop.outcomes} are of failures alone: among thousands of objects few. @default {false} */
  readonly forgetsSuccesses?: boolean;
  /** Longest time for one object, what it asks of others included, in milliseconds. @default {60_000} */
  readonly reconcileTimeoutMs?: number;
  /**
   * How long a reconcile may go on after a stop, in milliseconds: longer than any healthy write; with the last Events
   * the process ends within 5 s. @default {2_500}
   */
  readonly graceMs?: number;
}

/**
 * Most reconciles find nothing to do and never wait for anything. After so many everything else has its turn: thousands
 * in a row, as at a start on many Nodes, would hold up probes and the renewal of the Lease.
 */
const TURN_LENGTH = 20;

/** A queue of objects, its workers, and everything that fills it. */
export class ObjectLoop<T extends KubeObject> {
  readonly #options: ObjectLoopOptions<T>;
  readonly #queue: WorkQueue;
  readonly #workers: Workers;
  /** Objects that were met as they stood before another write. The watch brings what they are waiting for. */
  readonly #deferred = new Set<Key>();
  /** Objects that wait for what a reconcile reads. */
  readonly #held = new Set<Key>();
  #reconciles = 0;
  /** Ends the run; nothing runs before. */
  #stop: AbortSignal = AbortSignal.abort();
  /** Rests while all is well. */
  readonly #sleeper: Sleeper;

  constructor(options: ObjectLoopOptions<T>) {
    const { name, noun, queueName, objects, workers, forgetsSuccesses = false } = options;
    const { reconcileTimeoutMs = 60_000, graceMs = 2_500 } = options;
    const { clock, log, queueMetrics, reconcileMetrics } = options.context;
    this.#options = options;
    this.#sleeper = new Sleeper(clock);
    this.#queue = new WorkQueue({ name: queueName, clock, metrics: queueMetrics });
    this.#workers = createWorkers({
      name,
      noun,
      queue: this.#queue,
      workers,
      reconcile: (key, signal) => this.#reconcile(key, signal).finally(() => this.#stir()),
      reconcileTimeoutMs,
      graceMs,
      exists: (key) => objects.get(key) !== undefined,
      forgetsSuccesses,
      clock,
      log,
      metrics: reconcileMetrics,
    });
  }

  /** How each object was last dealt with. */
  get outcomes(): ReadonlyMap<Key, ReconcileOutcome> {
    return this.#workers.outcomes;
  }

  /** Works on an object soon. */
  enqueue(key: Key): void {
    this.#queue.add(key);
  }

  /** Works on an object soon, unless it failed and waits for its next try. */
  enqueueUnlessWaiting(key: Key): void {
    if (this.#queue.remainingMs(key) === undefined) this.#queue.add(key);
  }

  /** Works on every object soon. */
  enqueueAll(): void {
    for (const key of this.#options.objects.keys()) this.#queue.add(key);
  }

  /** Runs until the signal aborts and what was under way has ended. */
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
      await Promise.all([this.#workers.run(signal), this.#tick(signal)]);
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  async #reconcile(key: Key, signal: AbortSignal): Promise<ReconcileResult> {
    const { objects, sources = [], written, reconcile, forget } = this.#options;
    this.#reconciles += 1;
    if (this.#reconciles % TURN_LENGTH === 0) await setImmediate();
    const object = objects.get(key);
    if (object === undefined) {
      written.forget(key);
      this.#deferred.delete(key);
      forget(key);
      return {};
    }
    const missing = sources.find(({ reader }) => reader?.synced === false)?.reader;
    if (missing !== undefined) return this.#hold(key, missing);
    if (written.isStale(object)) {
      this.#deferred.add(key);
      return { isPending: true };
    }
    try {
      return await reconcile(object, signal);
    } catch (error) {
      if (isKubeError(error, "conflict")) this.#expectNewer(key, object);
      throw error;
    }
  }

  /** Who does not see what it created creates it again: works on an object once the kind that is missing is there. */
  #hold(key: Key, missing: NonNullable<KeySource["reader"]>): ReconcileResult {
    this.#held.add(key);
    if (this.#held.size === 1)
      missing.untilSynced(this.#stop).then(
        () => this.#release(),
        () => undefined,
      );
    return { isPending: true };
  }

  #release(): void {
    for (const key of this.#held) this.#queue.add(key);
    this.#held.clear();
  }

  /** Somebody else wrote first: works on what the watch brings, sooner than the back-off ends. */
  #expectNewer(key: Key, refused: T): void {
    if (this.#options.objects.get(key) === refused) this.#deferred.add(key);
    else this.#queue.add(key);
  }

  #isRelevant(before: T | undefined, after: T | undefined): boolean {
    if (before === undefined || after === undefined) return true;
    const { inputs } = this.#options;
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
