/**
 * The node controller: initialises Nodes and keeps their addresses true.
 * @module
 */
import type { InventorySource } from "../../cloud/inventory_source.ts";
import type { Presence, Provider } from "../../cloud/provider.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import { WorkQueue } from "../../core/work_queue.ts";
import type { WorkQueueMetrics } from "../../core/work_queue_metrics.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events.ts";
import type { Node } from "../../kube/resource.ts";
import type { Store } from "../../kube/store.ts";
import { type Controller, type ControllerMetrics, createController } from "../controller.ts";
import { isUninitialized, toIdentity } from "./identity.ts";
import type { NodeMetrics } from "./metrics.ts";
import { createNodeReconciler } from "./reconcile.ts";
import { isRelevantChange } from "./relevance.ts";
import { InstanceResolver } from "./resolver.ts";
import { SupersededVersions } from "./superseded_versions.ts";
import { describeNode, type NodeState } from "./view.ts";
import { WarningThrottle } from "./warning_throttle.ts";

export { createNodeMetrics } from "./metrics.ts";
export { toIdentity } from "./identity.ts";
export { COMPONENT } from "./words.ts";

/** What the node controller works with. */
export interface NodeControllerOptions {
  readonly client: KubeClient;
  readonly nodes: Store<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: NodeMetrics;
  readonly queueMetrics: WorkQueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  /** How many Nodes are worked on at once. */
  readonly workers: number;
  /** How often every Node is looked at, whatever happens, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** What is known of one Node and of how it was last dealt with. */
export interface NodeReport extends NodeState {
  readonly lastReconcile: {
    readonly at: string;
    readonly outcome: string;
    readonly error?: string;
  } | null;
  readonly nextReconcileAt?: string;
}

/** Longest time for one Node, the cloud's answer included. */
const RECONCILE_TIMEOUT_MS = 60_000;
/** After a stop: longer than any healthy write; with the last Events the process ends within 5 s. */
const GRACE_MS = 2_500;

/** The node controller. It works while {@linkcode run} runs. */
export class NodeController {
  readonly #options: NodeControllerOptions;
  readonly #queue: WorkQueue;
  readonly #resolver: InstanceResolver;
  readonly #controller: Controller;

  constructor(options: NodeControllerOptions) {
    const { provider, source, nodes, clock } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ name: "Nodes", clock, metrics: options.queueMetrics });
    this.#resolver = new InstanceResolver(provider, source, clock);
    this.#controller = createController({
      name: "cloud-node",
      queue: this.#queue,
      workers: options.workers,
      reconcile: createNodeReconciler({
        ...options,
        resolver: this.#resolver,
        throttle: new WarningThrottle(clock),
        superseded: new SupersededVersions(),
      }),
      reconcileTimeoutMs: RECONCILE_TIMEOUT_MS,
      graceMs: GRACE_MS,
      exists: (key) => nodes.get(key) !== undefined,
      clock,
      log: options.log,
      metrics: options.controllerMetrics,
    });
  }

  /** Runs until the signal aborts and what was under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, source } = this.#options;
    const unsubscribe = [
      nodes.subscribe((key, before, after) => {
        if (isRelevantChange(before, after)) this.#queue.add(key);
      }),
      source.subscribe((changed, hasRecovered) => this.#enqueueTouched(changed, hasRecovered)),
    ];
    try {
      await Promise.all([this.#controller.run(signal), this.#runFullPasses(signal)]);
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  /** What memory says of a Node's instance. */
  find(node: Node): Presence {
    return this.#resolver.find(toIdentity(node));
  }

  /** Describes a Node for people. */
  describe(node: Node): NodeReport {
    const last = this.#controller.outcomes.get(node.metadata.name);
    return {
      ...describeNode(node, this.find(node), this.#options.provider.providedNodeIps),
      lastReconcile: last
        ? {
            at: new Date(last.at).toISOString(),
            outcome: last.outcome,
            ...(last.error === undefined ? {} : { error: last.error }),
          }
        : null,
      ...(last?.nextAt === undefined
        ? {}
        : { nextReconcileAt: new Date(last.nextAt).toISOString() }),
    };
  }

  /** After a refresh: the Nodes that waited for it or for the cloud's recovery, and those whose instance differs. */
  #enqueueTouched(changed: ReadonlySet<string>, hasRecovered: boolean): void {
    for (const key of this.#resolver.waiting) this.#queue.add(key);
    if (changed.size === 0 && !hasRecovered) return;
    for (const node of this.#options.nodes.values()) {
      if (hasRecovered && isUninitialized(node)) this.#queue.add(node.metadata.name);
      const presence = this.find(node);
      if (presence.kind === "present" && changed.has(presence.instance.id)) {
        this.#queue.add(node.metadata.name);
      }
    }
  }

  async #runFullPasses(signal: AbortSignal): Promise<void> {
    const { clock, nodes, fullPassIntervalMs } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(fullPassIntervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      for (const key of nodes.keys()) this.#queue.add(key);
    }
  }
}
