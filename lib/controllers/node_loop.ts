/**
 * What all controllers of Nodes have in common: what they work with, and a loop that works on one Node at a time.
 * @module
 */
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventoryListener, InventorySource } from "../cloud/inventory/source.ts";
import type { ChangeHint, Presence, Provider } from "../cloud/provider.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import { WorkQueue } from "../engine/work_queue.ts";
import type { WorkQueueMetrics } from "../engine/work_queue_metrics.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { isKubeError } from "../kube/api/errors.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { Store } from "../kube/cache/store.ts";
import {
  type Controller,
  type ControllerMetrics,
  createController,
  type ReconcileOutcome,
  type ReconcileResult,
} from "../engine/controller.ts";
import { isUninitialized } from "./identity.ts";
import type { NodePresences } from "./node_presences.ts";
import type { WrittenVersions } from "../engine/written_versions.ts";

/** What every controller of Nodes works with. */
export interface NodeContext {
  readonly client: KubeClient;
  readonly nodes: Store<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly resolver: InstanceResolver;
  readonly presences: NodePresences;
  readonly events: EventRecorder;
  /** Shared by all that write Nodes. */
  readonly written: WrittenVersions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly queueMetrics: WorkQueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  /** How many Nodes each controller works on at once. */
  readonly workers: number;
}

/** What makes one controller differ from another. */
export interface NodeLoopOptions {
  readonly context: NodeContext;
  /** Name in logs and metrics: `cloud-node`. */
  readonly name: string;
  /** Name of the work queue in metrics. */
  readonly queueName: string;
  /**
   * Everything of a Node that {@linkcode reconcile} looks at. What changes beside it is passed over: were heartbeats of
   * kubelets worked on, every Node that waits for its machine would ask the cloud at their pace, whatever its back-off.
   */
  readonly inputs: (node: Node) => readonly unknown[];
  /** Brings one Node to where it should be. The Node is as new as every write of ours. */
  readonly reconcile: (node: Node, signal: AbortSignal) => Promise<ReconcileResult>;
  /** Drops what is remembered of a Node that is gone. */
  readonly forget: (name: string) => void;
  /** What to do after each refresh of the inventory; {@linkcode NodeLoop.enqueueTouched} is at hand. */
  readonly onRefresh: InventoryListener;
  /** Called so often; {@linkcode NodeLoop.enqueueAll} is at hand. */
  readonly onTick: () => void;
  readonly tickIntervalMs: number;
  /**
   * Whether nothing can be due until a Node was worked on or the inventory was refreshed: then nothing ticks, for each
   * time that an idle process wakes up costs more than what it does. @default {() => false}
   */
  readonly isAtRest?: () => boolean;
  /** Whether {@linkcode NodeLoop.outcomes} are of failures alone: among thousands of Nodes few. @default {false} */
  readonly forgetsSuccesses?: boolean;
}

/** Longest time for one Node, the cloud's answer included. */
const RECONCILE_TIMEOUT_MS = 60_000;
/**
 * Most reconciles find nothing to do and never wait for anything. After so many everything else has its turn: thousands
 * in a row, as at a start on many Nodes, would hold up probes and the renewal of the Lease.
 */
const TURN_LENGTH = 20;
/** After a stop: longer than any healthy write; with the last Events the process ends within 5 s. */
const GRACE_MS = 2_500;

/** A queue of Nodes, its workers, and everything that fills it. */
export class NodeLoop {
  readonly #options: NodeLoopOptions;
  readonly #queue: WorkQueue;
  readonly #controller: Controller;
  /** Nodes that were met as they stood before another write. The watch brings what they are waiting for. */
  readonly #deferred = new Set<string>();
  #reconciles = 0;
  /** Ends the rest. */
  #wake: (() => void) | undefined;

  constructor(options: NodeLoopOptions) {
    const { context, name, queueName, forgetsSuccesses = false } = options;
    const { nodes, clock, log, queueMetrics, controllerMetrics, workers } = context;
    this.#options = options;
    this.#queue = new WorkQueue({ name: queueName, clock, metrics: queueMetrics });
    this.#controller = createController({
      name,
      noun: "node",
      queue: this.#queue,
      workers,
      reconcile: (key, signal) => this.#reconcile(key, signal).finally(() => this.#stir()),
      reconcileTimeoutMs: RECONCILE_TIMEOUT_MS,
      graceMs: GRACE_MS,
      exists: (key) => nodes.get(key) !== undefined,
      forgetsSuccesses,
      clock,
      log,
      metrics: controllerMetrics,
    });
  }

  /** How each Node was last dealt with. */
  get outcomes(): ReadonlyMap<string, ReconcileOutcome> {
    return this.#controller.outcomes;
  }

  /** Works on a Node soon. */
  enqueue(name: string): void {
    this.#queue.add(name);
  }

  /** Works on a Node soon, unless it failed and waits for its next try. */
  enqueueUnlessWaiting(name: string): void {
    if (this.#queue.remainingMs(name) === undefined) this.#queue.add(name);
  }

  /** Works on every Node soon. */
  enqueueAll(): void {
    for (const name of this.#options.context.nodes.keys()) this.#queue.add(name);
  }

  /** Works on the Nodes whose instances are among `changed`, and on those that name one and report another. */
  enqueueTouched(changed: ChangeHint): void {
    if (changed === "everything") return this.enqueueAll();
    if (changed.size === 0) return;
    const { nodes, presences } = this.#options.context;
    for (const node of nodes.values()) {
      const presence = presences.find(node);
      const isTouched = presence.kind === "present" && changed.has(presence.instance.id);
      if (isTouched || isMismatched(node, presence)) this.#queue.add(node.metadata.name);
    }
  }

  /** Runs until the signal aborts and what was under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, source } = this.#options.context;
    const unsubscribe = [
      nodes.subscribe((key, before, after) => {
        if (this.#deferred.delete(key) || this.#isRelevant(before, after)) this.#queue.add(key);
      }),
      source.subscribe((changed, hasRecovered) => {
        this.#options.onRefresh(changed, hasRecovered);
        this.#stir();
      }),
    ];
    try {
      await Promise.all([this.#controller.run(signal), this.#tick(signal)]);
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { context, reconcile, forget } = this.#options;
    this.#reconciles += 1;
    if (this.#reconciles % TURN_LENGTH === 0) await setImmediate();
    const node = context.nodes.get(key);
    if (node === undefined) {
      context.written.forget(key);
      this.#deferred.delete(key);
      forget(key);
      return {};
    }
    if (context.written.isStale(node)) {
      this.#deferred.add(key);
      return { isPending: true };
    }
    try {
      return await reconcile(node, signal);
    } catch (error) {
      if (isKubeError(error, "conflict")) this.#expectNewer(key, node);
      throw error;
    }
  }

  /** Somebody else wrote first: works on what the watch brings, sooner than the back-off ends. */
  #expectNewer(key: string, refused: Node): void {
    if (this.#options.context.nodes.get(key) === refused) this.#deferred.add(key);
    else this.#queue.add(key);
  }

  #isRelevant(before: Node | undefined, after: Node | undefined): boolean {
    if (before === undefined || after === undefined) return true;
    if (before.metadata.uid !== after.metadata.uid) return true;
    const { inputs } = this.#options;
    return !isDeepStrictEqual(inputs(before), inputs(after));
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { context, onTick, tickIntervalMs, isAtRest } = this.#options;
    while (!signal.aborted) {
      if (isAtRest?.()) await this.#untilStirred(signal);
      await context.clock.sleep(tickIntervalMs, signal).catch(() => undefined);
      if (!signal.aborted) onTick();
    }
  }

  async #untilStirred(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    this.#wake = end;
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await promise;
    signal.removeEventListener("abort", end);
    this.#wake = undefined;
  }

  #stir(): void {
    if (!this.#options.isAtRest?.()) this.#wake?.();
  }
}

/** Which of the two instances may have changed is not known. */
function isMismatched(node: Node, presence: Presence): boolean {
  return presence.kind === "unknown" && presence.reason === "ambiguous" && !isUninitialized(node);
}
