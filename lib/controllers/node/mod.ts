/**
 * The node controller: initialises Nodes and keeps their addresses true.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { type NodeContext, NodeLoop } from "../node_loop.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeMetrics } from "./metrics.ts";
import { NodeReconciler } from "./reconcile.ts";
import { describeNode, type NodeState } from "./view.ts";
import { NAME } from "./words.ts";

export { createNodeMetrics } from "./metrics.ts";
export { COMPONENT as NODE_COMPONENT, NAME as NODE_NAME } from "./words.ts";

/** What the node controller works with. */
export interface NodeControllerOptions {
  /** Its Events speak as {@linkcode NODE_COMPONENT}. */
  readonly context: NodeContext;
  readonly metrics: NodeMetrics;
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

/** The node controller. It works while {@linkcode run} runs. */
export class NodeController {
  readonly #context: NodeContext;
  readonly #loop: NodeLoop;

  constructor({ context, metrics, fullPassIntervalMs }: NodeControllerOptions) {
    this.#context = context;
    const throttle = new WarningThrottle(context.clock);
    const reconciler = new NodeReconciler({ ...context, metrics, throttle });
    this.#loop = new NodeLoop({
      context,
      name: NAME,
      queueName: "Nodes",
      inputs: toInputs,
      reconcile: (node, signal) => reconciler.reconcile(node, signal),
      forget: (name) => reconciler.forget(name),
      onRefresh: (changed, hasRecovered) => this.#onRefresh(changed, hasRecovered),
      tickIntervalMs: fullPassIntervalMs,
    });
  }

  /** Runs until the signal aborts and what was under way has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Describes a Node for people. */
  describe(node: Node): NodeReport {
    const { presences, resolver, provider } = this.#context;
    const last = this.#loop.outcomes.get(node.metadata.name);
    const presence = resolver.explain(toIdentity(node), presences.find(node));
    return {
      ...describeNode(node, presence, provider),
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

  /** The Nodes that waited for a refresh or for the cloud's recovery, and those whose instance differs. */
  #onRefresh(changed: ChangeHint, hasRecovered: boolean): void {
    const { nodes, resolver } = this.#context;
    for (const name of resolver.waiting) this.#loop.enqueue(name);
    this.#loop.enqueueTouched(changed);
    if (!hasRecovered) return;
    for (const node of nodes.values()) {
      if (isUninitialized(node)) this.#loop.enqueue(node.metadata.name);
    }
  }
}

/** Everything of a Node that a plan looks at. */
function toInputs({ metadata, spec, status }: Node): readonly unknown[] {
  return [
    metadata.labels,
    metadata.annotations,
    spec?.providerID,
    spec?.taints,
    status?.addresses,
    status?.nodeInfo?.systemUUID,
  ];
}
