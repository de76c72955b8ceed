/**
 * The label controller: keeps region, zone, instance type and the cloud's own labels of initialised Nodes true.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { ReconcileResult } from "../../engine/controller.ts";
import { isUninitialized } from "../identity.ts";
import { type ControllerContext, toNodeContext } from "../context.ts";
import { FULL_PASS_FLAG, readFlag } from "../flags.ts";
import { type NodeContext, NodeLoop } from "../node_loop.ts";
import { NodeWriter } from "../node_writer.ts";
import { Contest, ROUNDS_MAX } from "../../engine/contest.ts";
import { isTooEarly, type LabelPlan, type Labels, planNodeLabels } from "./plan.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import { toEvent } from "../words.ts";
import { EVENTS, NAME } from "./words.ts";

/** What the label controller works with. */
export interface NodeLabelControllerOptions {
  readonly context: NodeContext;
  /** How often every Node is looked at, whatever happens, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** What the cloud last told of one Node's machine. */
interface Memory {
  /** A Node that comes again under its name is another one, as its machine may be. */
  readonly uid: string | undefined;
  readonly told: Labels;
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext): NodeLabelController {
  const fullPassIntervalMs = readFlag(context.flags, FULL_PASS_FLAG);
  return new NodeLabelController({ context: toNodeContext(context), fullPassIntervalMs });
}

/** The label controller. It works while {@linkcode run} runs. */
export class NodeLabelController {
  readonly #context: NodeContext;
  readonly #loop: NodeLoop;
  readonly #contest: Contest;
  readonly #writer: NodeWriter;
  readonly #throttle: WarningThrottle;
  /** By the Node's name. */
  readonly #memories = new Map<string, Memory>();
  /** Names of the Nodes that no inventory was asked for yet: nothing is decided about them before. */
  readonly #early = new Set<string>();

  constructor({ context, fullPassIntervalMs }: NodeLabelControllerOptions) {
    this.#context = context;
    this.#writer = new NodeWriter(context);
    this.#contest = new Contest(context.clock);
    this.#throttle = new WarningThrottle(context.clock);
    this.#loop = new NodeLoop({
      context,
      name: NAME,
      queueName: "node_labels",
      inputs: (node) => [isUninitialized(node), node.spec?.providerID, node.metadata.labels],
      reconcile: (node, signal) => this.#reconcile(node, signal),
      forget: (name) => this.#forget(name),
      onRefresh: (changed) => this.#onRefresh(changed),
      tickIntervalMs: fullPassIntervalMs,
      forgetsSuccesses: true,
    });
  }

  /** Runs until the signal aborts and what was under way has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  #onRefresh(changed: ChangeHint): void {
    for (const name of this.#early) this.#loop.enqueue(name);
    this.#loop.enqueueTouched(changed);
  }

  async #reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { presences, provider, events } = this.#context;
    const { name, uid } = node.metadata;
    const presence = presences.find(node);
    if (isTooEarly(presence)) this.#early.add(name);
    else this.#early.delete(name);
    const memory = this.#memories.get(name);
    const plan = planNodeLabels(node, presence, {
      told: memory?.uid === uid ? (memory?.told ?? {}) : {},
      origins: provider.originLabels ?? {},
    });
    if (Object.keys(plan.set).length > 0) {
      const held = plan.isRepair && this.#contest.hold(node, toContested(plan), events);
      if (held) return held;
      await this.#patch(node, plan, signal);
    }
    this.#memories.set(name, { uid, told: plan.told });
    for (const event of plan.events) events.record(node, event);
    if (plan.caution && this.#throttle.passes(name, plan.caution)) {
      events.record(node, plan.caution);
    }
    return {};
  }

  async #patch(node: Node, { set, isRepair }: LabelPlan, signal: AbortSignal): Promise<void> {
    const { name } = node.metadata;
    await this.#writer.patch(node, { metadata: { labels: set } }, signal);
    if (isRepair) this.#contest.noteRound(name);
    this.#context.log.info("Node labels written", { node: name, labels: set });
  }

  #forget(name: string): void {
    this.#early.delete(name);
    this.#memories.delete(name);
    this.#contest.forget(name);
    this.#throttle.forget(name);
  }
}

function toContested({ set }: LabelPlan): EventOptions {
  const keys = Object.keys(set).toSorted().join(", ");
  const message =
    `Labels of this Node were put back ${ROUNDS_MAX} times within a minute and differ again, so somebody else ` +
    `must be changing them too; they are put back at that pace only: ${keys}`;
  return toEvent(EVENTS.contested, message);
}
