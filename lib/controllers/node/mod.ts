/**
 * The node controller: initialises Nodes and keeps their addresses up to date.
 * @module
 */
import type { NodeSelection } from "../../cloud/node_selection.ts";
import type { ChangeHint } from "../../cloud/provider.ts";
import { type ControllerContext, toNodeContext } from "../context.ts";
import { FULL_PASS_FLAG, readFlag } from "../flags.ts";
import type { NodeContext } from "../context.ts";
import { isUninitialized } from "../identity.ts";
import { type LastReconcile, toLastReconcile } from "../../engine/workers.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { createNodeMetrics, type NodeMetrics } from "./metrics.ts";
import { NodeReconciler } from "./reconcile.ts";
import { NAME } from "./words.ts";

/** The dependencies of the node controller. */
interface NodeControllerOptions {
  readonly context: NodeContext;
  readonly metrics: NodeMetrics;
  /** How often Landfall checks every Node even without a change, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** The last reconcile of one Node. */
interface NodeReport {
  readonly lastReconcile: LastReconcile | null;
  readonly nextReconcileAt?: string;
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext<NodeSelection>): NodeController {
  return new NodeController({
    context: toNodeContext(context),
    metrics: createNodeMetrics(context.metrics),
    fullPassIntervalMs: readFlag(context.flags, FULL_PASS_FLAG),
  });
}

/** The node controller. */
export class NodeController {
  readonly #context: NodeContext;
  readonly #loop: ObjectLoop<Node>;

  constructor({ context, metrics, fullPassIntervalMs }: NodeControllerOptions) {
    this.#context = context;
    const { nodes, source, workers } = context;
    const throttle = new WarningThrottle(context.clock);
    const reconciler = new NodeReconciler({ ...context, metrics, throttle });
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "Nodes",
      noun: "node",
      objects: nodes,
      workers,
      inputs: toInputs,
      reconcile: (node, signal) => reconciler.reconcile(node, signal),
      forget: (name) => reconciler.forget(name),
      sources: [
        {
          subscribe: (listener) =>
            source.subscribe((...change) => listener(this.#listDue(...change))),
        },
      ],
      tickIntervalMs: fullPassIntervalMs,
    });
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Describes the last reconcile of a Node, for the debug pages. */
  describe(node: Node): NodeReport {
    const last = this.#loop.outcomes.get(node.metadata.name);
    return {
      lastReconcile: toLastReconcile(last),
      ...(last?.nextAt === undefined
        ? {}
        : { nextReconcileAt: new Date(last.nextAt).toISOString() }),
    };
  }

  /** Lists the Nodes that waited for a refresh or for the cloud's recovery, and those whose instance changed. */
  #listDue(changed: ChangeHint, hasRecovered: boolean): readonly string[] {
    const { nodes, resolver, presences } = this.#context;
    const due = [...resolver.waiting, ...presences.listAffected(changed, nodes.values())];
    if (!hasRecovered) return due;
    const waiting = [...nodes.values()].filter(isUninitialized);
    return [...due, ...waiting.map(({ metadata }) => metadata.name)];
  }
}

/** Lists the fields of a Node that a plan reads. */
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
