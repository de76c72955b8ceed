/**
 * Reconciles one Node with the state of its machine: reads memory, plans, writes the taint or deletes the Node.
 * @module
 */
import { Contest, ROUNDS_MAX, WarningThrottle } from "../../engine/throttle.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isReady, isUninitialized } from "../identity.ts";
import { type NodeContext, patchNode } from "../node_context.ts";
import { toEvent } from "../../kube/events/words.ts";
import { Deleter } from "./deleter.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import type { RefreshPacer } from "../fleet/refresh_pacer.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import { type LifecyclePlan, planLifecycle } from "./plan.ts";
import { EVENT_WORDS, SHUTDOWN_TAINT } from "./words.ts";

/** The dependencies of the reconciler. */
interface LifecycleReconcilerOptions extends NodeContext {
  readonly fleet: FleetWatch;
  readonly pacer: RefreshPacer;
  readonly metrics: LifecycleMetrics;
}

const TAINT = `${SHUTDOWN_TAINT.key}:${SHUTDOWN_TAINT.effect}`;
const TAINT_SET = `Set the taint ${TAINT}: the machine is off and the Node is not Ready`;
const TAINT_REMOVED = `Removed the taint ${TAINT}: the Node is Ready again`;

/** Reconciles the lifecycle of Nodes. */
export class LifecycleReconciler {
  readonly #options: LifecycleReconcilerOptions;
  readonly #deleter: Deleter;
  readonly #throttle: WarningThrottle;
  readonly #contest: Contest;
  /** Names of the Nodes that were not Ready at their last reconcile. */
  readonly #notReady = new Set<string>();
  /** Answers of the cloud that did not confirm that a machine is gone, by the Node's name. */
  readonly #answers = new Map<
    string,
    { readonly uid: string | undefined; readonly text: string }
  >();

  constructor(options: LifecycleReconcilerOptions) {
    this.#options = options;
    this.#deleter = new Deleter(options);
    this.#throttle = new WarningThrottle(options.clock);
    this.#contest = new Contest(options.clock);
  }

  /** Whether each of our Nodes was Ready at its last reconcile. */
  get areAllReady(): boolean {
    return this.#notReady.size === 0;
  }

  /** Returns the cloud's last answer about a Node, if it did not confirm that the machine is gone. */
  findAnswer({ metadata: { name, uid } }: Node): string | undefined {
    const answer = this.#answers.get(name);
    return answer?.uid === uid ? answer?.text : undefined;
  }

  /** Forgets that answer, because the cloud shows the machine again. */
  dropAnswer(name: string): void {
    this.#answers.delete(name);
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#notReady.delete(name);
    this.#answers.delete(name);
    this.#throttle.forget(name);
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
        this.#reportBlocked(node, plan.reason, plan.message);
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
      this.#answers.delete(name);
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
    const { events, log } = this.#options;
    const message = `Landfall wrote the shutdown taint ${ROUNDS_MAX} times in a minute, and it changed again`;
    const held = this.#contest.hold(node, toEvent(EVENT_WORDS.taintContested, message), events);
    if (held) return held;
    const spec = { taints: taints.length === 0 ? null : taints };
    await patchNode(this.#options.client, node, { spec }, signal);
    this.#contest.noteRound(node.metadata.name);
    const { taintSet, taintRemoved } = EVENT_WORDS;
    const event = isOff ? toEvent(taintSet, TAINT_SET) : toEvent(taintRemoved, TAINT_REMOVED);
    events.record(node, event);
    const logged = isOff ? "Node tainted: its machine is off" : "Shutdown taint removed";
    log.info(logged, { node: node.metadata.name });
    return {};
  }

  async #delete(node: Node, signal: AbortSignal): Promise<void> {
    const { name, uid } = node.metadata;
    const result = await this.#deleter.delete(node, signal);
    if (result.kind !== "unconfirmed" && result.kind !== "prolonged") return;
    const { kind, message: text } = result;
    // The verdict of the guard already says what Landfall waits for.
    if (kind === "prolonged") this.#answers.delete(name);
    else this.#answers.set(name, { uid, text });
    const message = `The cloud did not confirm that its machine is gone: ${text}`;
    this.#reportBlocked(node, kind, message);
  }

  /**
   * Reports that Landfall does not delete a Node; the same reason at most once in five minutes for each Node.
   *
   * @param why The reason as one word. A message with the same reason and other counts is not reported again
   */
  #reportBlocked(node: Node, why: string, message: string): void {
    const { events, log } = this.#options;
    const { name } = node.metadata;
    const { deletionBlocked } = EVENT_WORDS;
    if (!this.#throttle.passes(name, toEvent(deletionBlocked, why))) return;
    events.record(node, toEvent(deletionBlocked, message));
    log.warn("Keeping Node although the cloud does not show its machine", {
      node: name,
      reason: why,
      explanation: message,
    });
  }
}
