/**
 * The label controller: keeps region, zone, instance type and the cloud's own labels of initialised Nodes up to date.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { type NodeContext, patchNode, toNodeContext } from "../node_context.ts";
import { type ControllerContext, FULL_PASS_FLAG, readFlag } from "../definition.ts";
import { isKubeletReporting, isUninitialized } from "../identity.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { TAG_LABELS_RECORD } from "../words.ts";
import { EVENT_WORDS, NAME } from "./words.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { Contest, ROUNDS_MAX, WarningThrottle } from "../../engine/throttle.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import { toEvent } from "../../kube/events/words.ts";
import { NO_TAG_CHANGES, toMetadataPatch } from "../instance_labels.ts";
import { isTooEarly, type LabelPlan, type Labels, planNodeLabels } from "./plan.ts";

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

/** The labels that the cloud last reported for one Node. */
interface Memory {
  /** A new Node with the same name may have another machine. */
  readonly uid: string | undefined;
  readonly reported: Labels;
}

/** Reconciles the labels of Nodes. */
class LabelReconciler {
  readonly #context: NodeContext;
  readonly #contest: Contest;
  readonly #throttle: WarningThrottle;
  /** By the Node's name. */
  readonly #memories = new Map<string, Memory>();
  readonly #early = new Set<string>();

  constructor(context: NodeContext) {
    this.#context = context;
    this.#contest = new Contest(context.clock);
    this.#throttle = new WarningThrottle(context.clock);
  }

  /** Names of the Nodes for which there is no inventory yet. Landfall decides nothing about them. */
  get early(): ReadonlySet<string> {
    return this.#early;
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#early.delete(name);
    this.#memories.delete(name);
    this.#contest.forget(name);
    this.#throttle.forget(name);
  }

  /**
   * Reconciles the labels of a Node with its instance.
   *
   * @throws {KubeError} if Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { presences, provider, events } = this.#context;
    const { name, uid } = node.metadata;
    const presence = presences.find(node);
    if (isTooEarly(presence)) this.#early.add(name);
    else this.#early.delete(name);
    const memory = this.#memories.get(name);
    const plan = planNodeLabels(node, presence, {
      reported: memory?.uid === uid ? (memory?.reported ?? {}) : {},
      origins: provider.originLabels ?? {},
      ...(provider.unmanaged && { unmanaged: provider.unmanaged }),
    });
    if (Object.keys(plan.set).length > 0 || plan.tags) {
      const held = plan.isRepair && this.#contest.hold(node, toContested(plan), events);
      if (held) return held;
      await this.#write(node, plan, signal);
    }
    this.#memories.set(name, { uid, reported: plan.reported });
    for (const event of plan.events) events.record(node, event);
    for (const warning of [plan.caution ?? [], plan.tagWarnings ?? []].flat()) {
      if (this.#throttle.passes(name, warning)) events.record(node, warning);
    }
    return {};
  }

  async #write(node: Node, plan: LabelPlan, signal: AbortSignal): Promise<void> {
    const { name } = node.metadata;
    const { set, tags = NO_TAG_CHANGES } = plan;
    await patchNode(this.#context.client, node, { metadata: toMetadataPatch(set, tags) }, signal);
    if (plan.isRepair) this.#contest.noteRound(name);
    const { removed } = tags;
    const labels = { ...set, ...tags.set };
    const gone = removed.length > 0 ? { removed } : {};
    this.#context.log.info("Node labels written", { node: name, labels, ...gone });
  }
}

function toContested({ set, tags = NO_TAG_CHANGES }: LabelPlan): EventOptions {
  const keys = Object.keys({ ...set, ...tags.set })
    .toSorted()
    .join(", ");
  const message =
    `Landfall restored labels of this Node ${ROUNDS_MAX} times within a minute, and they differ again. ` +
    `Another program changes them too; find and stop it. Landfall restores them no faster than that: ${keys}`;
  return toEvent(EVENT_WORDS.contested, message);
}
