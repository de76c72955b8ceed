/**
 * The label controller: keeps region, zone, instance type and the cloud's own labels of initialised Nodes up to date.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { type NodeContext, toNodeContext } from "../node_context.ts";
import { type ControllerContext, FULL_PASS_FLAG, readFlag } from "../definition.ts";
import { isKubeletReporting, isUninitialized } from "../identity.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { TAG_LABELS_RECORD } from "../words.ts";
import { LabelReconciler } from "./reconcile.ts";
import { NAME } from "./words.ts";

/** The dependencies of the label controller. */
interface NodeLabelControllerOptions {
  readonly context: NodeContext;
  /** How often Landfall checks every Node even without a change, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext): NodeLabelController {
  const fullPassIntervalMs = readFlag(context.flags, FULL_PASS_FLAG);
  return new NodeLabelController({ context: toNodeContext(context), fullPassIntervalMs });
}

/** The label controller. */
export class NodeLabelController {
  readonly #loop: ObjectLoop<Node>;

  constructor({ context, fullPassIntervalMs }: NodeLabelControllerOptions) {
    const { nodes, source, presences, workers } = context;
    const reconciler = new LabelReconciler(context);
    const listDue = (changed: ChangeHint): readonly string[] => [
      ...reconciler.early,
      ...presences.listAffected(changed, nodes.values()),
    ];
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "node_labels",
      noun: "node",
      objects: nodes,
      workers,
      inputs: (node) => [
        isUninitialized(node),
        isKubeletReporting(node),
        node.spec?.providerID,
        node.metadata.labels,
        node.metadata.annotations?.[TAG_LABELS_RECORD],
      ],
      reconcile: (node, signal) => reconciler.reconcile(node, signal),
      forget: (name) => reconciler.forget(name),
      sources: [
        { subscribe: (listener) => source.subscribe((changed) => listener(listDue(changed))) },
      ],
      tickIntervalMs: fullPassIntervalMs,
      forgetsSuccesses: true,
    });
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }
}
