/**
 * Reconciles one Node with the state of its machine: reads memory, plans, writes the taint or deletes the Node.
 * @module
 */
import { Contest, ROUNDS_MAX } from "../../engine/contest.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isReady, isUninitialized } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import { NodeWriter } from "../node_writer.ts";
import { toEvent } from "../../kube/events/words.ts";
import { Deleter } from "./deleter.ts";
import type { UnconfirmedAbsences } from "./unconfirmed_absences.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import { LifecycleEvents } from "./events.ts";
import { type LifecyclePlan, planLifecycle } from "./plan.ts";
import type { RefreshPacer } from "./refresh_pacer.ts";
import { EVENT_WORDS } from "./words.ts";

/** The dependencies of the reconciler. */
interface LifecycleReconcilerOptions extends NodeContext {
  readonly fleet: FleetWatch;
  readonly unconfirmed: UnconfirmedAbsences;
  readonly pacer: RefreshPacer;
  readonly metrics: LifecycleMetrics;
}

/** Reconciles the lifecycle of Nodes. */
export class LifecycleReconciler {
  readonly #options: LifecycleReconcilerOptions;
  readonly #writer: NodeWriter;
  readonly #deleter: Deleter;
  readonly #events: LifecycleEvents;
  readonly #contest: Contest;
  /** Names of the Nodes that were not Ready at their last reconcile. */
  readonly #notReady = new Set<string>();

  constructor(options: LifecycleReconcilerOptions) {
    this.#options = options;
    this.#writer = new NodeWriter(options);
    this.#deleter = new Deleter(options);
    this.#events = new LifecycleEvents(options);
    this.#contest = new Contest(options.clock);
  }

  /** Whether each of our Nodes was Ready at its last reconcile. */
  get areAllReady(): boolean {
    return this.#notReady.size === 0;
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#notReady.delete(name);
    this.#events.forget(name);
    this.#contest.forget(name);
  }

  /**
   * Taints a Node, deletes it, or reports why Landfall keeps it.
   *
   * @throws {KubeError} if Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { presences, fleet } = this.#options;
    this.#noteReadiness(node);
    const presence = presences.find(node);
    if (presence.kind === "present") fleet.noteSeen(node);
    const plan = planLifecycle(node, presence, fleet.judge(node));
    switch (plan.kind) {
      case "nothing":
        break;
      case "taint":
        return await this.#writeTaints(node, plan, signal);
      case "blocked":
        this.#events.reportBlocked(node, plan.reason, plan.message);
        break;
      case "confirm":
        await this.#delete(node, signal);
    }
    return {};
  }

  #noteReadiness(node: Node): void {
    const { name } = node.metadata;
    if (isReady(node)) {
      this.#notReady.delete(name);
      this.#options.fleet.restartCount(node);
    } else if (!this.#isOurs(node)) {
      this.#notReady.delete(name);
    } else if (!this.#notReady.has(name)) {
      this.#notReady.add(name);
      this.#options.pacer.noteNotReady();
    }
  }

  #isOurs(node: Node): boolean {
    return !isUninitialized(node) && this.#options.presences.find(node).kind !== "foreign";
  }

  async #writeTaints(
    node: Node,
    { taints, isOff }: LifecyclePlan & { kind: "taint" },
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const message = `Landfall wrote the shutdown taint ${ROUNDS_MAX} times in a minute, and it changed again`;
    const contested = toEvent(EVENT_WORDS.taintContested, message);
    const held = this.#contest.hold(node, contested, this.#options.events);
    if (held) return held;
    const spec = { taints: taints.length === 0 ? null : taints };
    await this.#writer.patch(node, { spec }, signal);
    this.#contest.noteRound(node.metadata.name);
    this.#events.reportTaint(node, isOff);
    return {};
  }

  async #delete(node: Node, signal: AbortSignal): Promise<void> {
    const { unconfirmed } = this.#options;
    const result = await this.#deleter.delete(node, signal);
    if (result.kind !== "unconfirmed" && result.kind !== "prolonged") return;
    const { kind, message } = result;
    // The verdict of the guard already says what Landfall waits for.
    if (kind === "prolonged") unconfirmed.drop(node.metadata.name);
    else unconfirmed.note(node, message);
    const text = `The cloud did not confirm that its machine is gone: ${message}`;
    this.#events.reportBlocked(node, kind, text);
  }
}
