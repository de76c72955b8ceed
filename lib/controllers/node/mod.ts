/**
 * The node controller: initialises Nodes and keeps their addresses true.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { type ControllerContext, toNodeContext } from "../context.ts";
import { FULL_PASS_FLAG, readFlag } from "../flags.ts";
import type { NodeContext } from "../context.ts";
import { NodeLoop } from "../node_loop.ts";
import { isUninitialized } from "../identity.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { createNodeMetrics, type NodeMetrics } from "./metrics.ts";
import { NodeReconciler } from "./reconcile.ts";
import { NAME } from "./words.ts";

/** What the node controller works with. */
export interface NodeControllerOptions {
  readonly context: NodeContext;
  readonly metrics: NodeMetrics;
  /** How often every Node is looked at, whatever happens, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** How one Node was last dealt with. */
export interface NodeReport {
  readonly lastReconcile: {
    readonly at: string;
    readonly outcome: string;
    readonly error?: string;
  } | null;
  readonly nextReconcileAt?: string;
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext): NodeController {
  return new NodeController({
    context: toNodeContext(context),
    metrics: createNodeMetrics(context.metrics),
    fullPassIntervalMs: readFlag(context.flags, FULL_PASS_FLAG),
  });
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

  /** How a Node was last dealt with, for people. */
  describe(node: Node): NodeReport {
    const last = this.#loop.outcomes.get(node.metadata.name);
    return {
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
