/**
 * The label controller: keeps region, zone, instance type and the cloud's own labels of initialised Nodes true.
 * @module
 */
import { NODES, type Node } from "../../kube/resource.ts";
import type { ReconcileResult } from "../controller.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import { type NodeContext, NodeLoop } from "../node_loop.ts";
import { WarningThrottle } from "../warning_throttle.ts";
import { Contest, ROUNDS_MAX } from "./contest.ts";
import { type LabelPlan, type Labels, planNodeLabels } from "./plan.ts";
import { EVENTS } from "./words.ts";

export { COMPONENT as LABELS_COMPONENT, EVENTS as LABELS_EVENTS } from "./words.ts";

/** What the label controller works with. */
export interface NodeLabelControllerOptions {
  /** Its Events speak as {@linkcode LABELS_COMPONENT}. */
  readonly context: NodeContext;
  /** How often every Node is looked at, whatever happens, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** The label controller. It works while {@linkcode run} runs. */
export class NodeLabelController {
  readonly #context: NodeContext;
  readonly #loop: NodeLoop;
  readonly #contest: Contest;
  readonly #throttle: WarningThrottle;
  /** What the cloud last told of each Node's machine, by the Node's name. */
  readonly #told = new Map<string, { readonly uid: string | undefined; readonly labels: Labels }>();

  constructor({ context, fullPassIntervalMs }: NodeLabelControllerOptions) {
    this.#context = context;
    this.#contest = new Contest(context.clock);
    this.#throttle = new WarningThrottle(context.clock);
    this.#loop = new NodeLoop({
      context,
      name: "cloud-node-label-sync",
      queueName: "node_labels",
      inputs: (node) => [isUninitialized(node), node.spec?.providerID, node.metadata.labels],
      reconcile: (node, signal) => this.#reconcile(node, signal),
      forget: (name) => {
        this.#told.delete(name);
        this.#contest.forget(name);
        this.#throttle.forget(name);
      },
      onRefresh: (changed) => this.#loop.enqueueTouched(changed),
      onTick: () => this.#loop.enqueueAll(),
      tickIntervalMs: fullPassIntervalMs,
    });
  }

  /** Runs until the signal aborts and what was under way has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { resolver, provider, events } = this.#context;
    const { name } = node.metadata;
    const remembered = this.#told.get(name);
    const plan = planNodeLabels(node, resolver.find(toIdentity(node)), {
      // A Node that comes again under its name is another one, as its machine may be.
      told: remembered?.uid === node.metadata.uid ? remembered?.labels : undefined,
      origins: provider.originLabels ?? {},
    });
    if (Object.keys(plan.set).length > 0) {
      const pauseMs = this.#contest.pauseMs(name);
      if (pauseMs > 0) return this.#leave(node, plan, pauseMs);
      await this.#patch(node, plan, signal);
    }
    if (plan.told) this.#told.set(name, { uid: node.metadata.uid, labels: plan.told });
    for (const event of plan.events) events.record(node, event);
    return {};
  }

  /** Somebody else writes these labels too: leaves them to that somebody for a while. */
  #leave(node: Node, { set }: LabelPlan, pauseMs: number): ReconcileResult {
    const keys = Object.keys(set).toSorted().join(", ");
    const message =
      `Labels of this Node were written ${ROUNDS_MAX} times within a minute and differ again, so somebody else ` +
      `must be changing them too; they are put right at that pace only: ${keys}`;
    const { type, reason } = EVENTS.contested;
    const event = { type, reason, message };
    if (this.#throttle.passes(node.metadata.name, event)) this.#context.events.record(node, event);
    return { requeueAfterMs: pauseMs };
  }

  async #patch(node: Node, { set }: LabelPlan, signal: AbortSignal): Promise<void> {
    const { client, superseded, log } = this.#context;
    const { name, resourceVersion } = node.metadata;
    const body = { metadata: { labels: set, resourceVersion } };
    const patched = await client.patch(NODES, { name }, { type: "merge", body }, signal);
    superseded.note(node, patched);
    this.#contest.noteRound(name);
    log.info("Node labels written", { node: name, labels: set });
  }
}
