/**
 * The lifecycle controller: taints Nodes whose machines are off, deletes those whose machines are proven gone.
 * @module
 */
import type { DeletionSettings, Verdict } from "../../cloud/deletion/guard.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { ReconcileResult } from "../../engine/controller.ts";
import { Contest, ROUNDS_MAX } from "../../engine/contest.ts";
import { isReady, isUninitialized, readyStatus } from "../identity.ts";
import { type ControllerContext, toNodeContext } from "../context.ts";
import { readFlag } from "../flags.ts";
import { type NodeContext, NodeLoop } from "../node_loop.ts";
import { NodeWriter } from "../node_writer.ts";
import { Deleter } from "./deleter.ts";
import { FleetWatch } from "./fleet_watch.ts";
import { MONITOR_FLAG } from "./flags.ts";
import { createLifecycleMetrics, type LifecycleMetrics } from "./metrics.ts";
import { LifecycleNarrator } from "./narrator.ts";
import { type LifecyclePlan, planLifecycle } from "./plan.ts";
import { RefreshPacer } from "./refresh_pacer.ts";
import { toEvent } from "../words.ts";
import { EVENTS, NAME } from "./words.ts";

/** What the lifecycle controller works with. */
export interface NodeLifecycleControllerOptions {
  readonly context: NodeContext;
  readonly deletion: DeletionSettings;
  readonly metrics: LifecycleMetrics;
  /** How often every Node is looked at, in memory, in milliseconds. */
  readonly monitorPeriodMs: number;
}

/** What the debug pages show of one Node. */
export interface LifecycleReport {
  /** Status of the condition Ready. */
  readonly ready: string;
  /** Whether a deletion is on its way, and what stands before it. Absent when the machine is there. */
  readonly deletion?: {
    readonly state: Exclude<Verdict["kind"], "keep"> | "unconfirmed";
    readonly reason?: string;
    readonly message?: string;
  };
}

/** What the cloud said of a Node instead of confirming that its machine is gone. */
interface Disagreement {
  /** A Node that comes again under its name is another one. */
  readonly uid: string | undefined;
  readonly message: string;
}

/** Creates the controller for the registry. */
export function create(
  context: ControllerContext,
  deletion: DeletionSettings,
): NodeLifecycleController {
  return new NodeLifecycleController({
    context: toNodeContext(context),
    deletion,
    metrics: createLifecycleMetrics(context.metrics),
    monitorPeriodMs: readFlag(context.flags, MONITOR_FLAG),
  });
}

/** The lifecycle controller. It works while {@linkcode run} runs. */
export class NodeLifecycleController {
  readonly #options: NodeLifecycleControllerOptions;
  readonly #loop: NodeLoop;
  readonly #fleet: FleetWatch;
  readonly #deleter: Deleter;
  readonly #narrator: LifecycleNarrator;
  readonly #contest: Contest;
  readonly #writer: NodeWriter;
  readonly #pacer: RefreshPacer;
  /** Nodes that are known to be not Ready. */
  readonly #notReady = new Set<string>();
  /** Whether a Node changed since the last look. */
  #isStale = true;
  /** The instances that the last look saw. */
  #seen: Inventory["instances"] | undefined;
  /** By name. Each stands until the machine or the kubelet is back. */
  readonly #disagreements = new Map<string, Disagreement>();
  #endStandBy: (() => void) | undefined;

  constructor(options: NodeLifecycleControllerOptions) {
    const { context, deletion, metrics, monitorPeriodMs } = options;
    this.#options = options;
    this.#fleet = new FleetWatch(context, deletion);
    this.#deleter = new Deleter({ ...context, fleet: this.#fleet, metrics });
    this.#narrator = new LifecycleNarrator(context);
    this.#writer = new NodeWriter(context);
    this.#contest = new Contest(context.clock);
    this.#pacer = new RefreshPacer({ ...context, tickIntervalMs: monitorPeriodMs });
    this.#loop = new NodeLoop({
      context,
      name: NAME,
      queueName: "node_lifecycle",
      inputs: (node) => [isReady(node), node.spec?.providerID, node.spec?.taints],
      reconcile: (node, signal) => this.#reconcile(node, signal),
      forget: (name) => this.#forget(name),
      onRefresh: () => void this.#look(),
      onTick: () => this.#pacer.tick(this.#look()),
      tickIntervalMs: monitorPeriodMs,
      forgetsSuccesses: true,
      isAtRest: () => this.#isAtRest(),
    });
    metrics.readFrom({
      readFleet: () => this.#fleet.read(),
      listBlocked: () => this.#listBlocked(),
    });
  }

  /** Remembers what it must know of the fleet once it runs; writes nothing. See {@linkcode FleetWatch.standBy}. */
  standBy(): void {
    this.#endStandBy ??= this.#fleet.standBy();
  }

  /** Runs until the signal aborts and what was under way has ended. */
  run(signal: AbortSignal): Promise<void> {
    this.#endStandBy?.();
    return this.#loop.run(signal);
  }

  /**
   * Uses other settings from now on. What was counted of missing machines is counted anew.
   *
   * @param options.isOtherCloud Whether inventories are another cloud's from now on: this one's were never seen
   */
  reconfigure(deletion: DeletionSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#fleet.reconfigure(deletion, options);
    this.#isStale = true;
  }

  /** Describes a Node for people. */
  describe(node: Node): LifecycleReport {
    const ready = readyStatus(node);
    const deletion = this.#describeDeletion(node);
    return deletion ? { ready, deletion } : { ready };
  }

  #describeDeletion(node: Node): LifecycleReport["deletion"] {
    const presence = this.#options.context.presences.find(node);
    if (presence.kind === "present") return undefined;
    const plan = this.#plan(node, presence);
    if (plan.kind === "blocked") {
      return { state: "blocked", reason: plan.reason, message: plan.message };
    }
    const disagreement = this.#disagreements.get(node.metadata.name);
    if (disagreement) return { state: "unconfirmed", message: disagreement.message };
    const verdict = this.#fleet.judge(node);
    if (verdict.kind === "keep") return undefined;
    if (verdict.kind === "confirm") {
      const failure = this.#loop.outcomes.get(node.metadata.name)?.error;
      return { state: "confirm", message: failure ?? "The cloud is asked to confirm it" };
    }
    return { state: verdict.kind, reason: verdict.reason, message: verdict.message };
  }

  /**
   * Looks at every Node; those that need something are worked on, unless they failed and wait for their next try.
   *
   * @returns Whether a Node that is not Ready misses its machine
   */
  #look(): boolean {
    if (this.#isAtRest()) return false;
    this.#isStale = false;
    this.#seen = this.#options.context.source.current?.instances;
    const hasMissing = this.#fleet.look();
    this.#dropSettledDisagreements();
    for (const node of this.#options.context.nodes.values()) {
      // Of most Nodes there is nothing to plan, and this happens often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      if (this.#plan(node).kind !== "nothing") this.#loop.enqueueUnlessWaiting(node.metadata.name);
    }
    return hasMissing;
  }

  /** Whether a look would see what the last one saw: all Nodes Ready, all machines there, and nothing changed. */
  #isAtRest(): boolean {
    const { current, lastError } = this.#options.context.source;
    if (this.#isStale || lastError || current?.instances !== this.#seen) return false;
    return this.#notReady.size === 0 && this.#fleet.isWell;
  }

  #plan(node: Node, presence = this.#options.context.presences.find(node)): LifecyclePlan {
    return planLifecycle(node, presence, this.#fleet.judge(node));
  }

  async #reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    this.#isStale = true;
    this.#noteReadiness(node);
    const presence = this.#options.context.presences.find(node);
    if (presence.kind === "present" && node.spec?.providerID) this.#fleet.noteSeen(node);
    const plan = this.#plan(node, presence);
    switch (plan.kind) {
      case "nothing":
        break;
      case "taint":
        return await this.#writeTaints(node, plan, signal);
      case "blocked":
        this.#narrator.tellBlocked(node, plan.reason, plan.message);
        break;
      case "confirm":
        await this.#delete(node, signal);
    }
    return {};
  }

  async #delete(node: Node, signal: AbortSignal): Promise<void> {
    const result = await this.#deleter.delete(node, signal);
    if (result.kind !== "unconfirmed" && result.kind !== "prolonged") return;
    const { kind, message } = result;
    const { name, uid } = node.metadata;
    // What is waited for, the guard tells.
    if (kind === "prolonged") this.#disagreements.delete(name);
    else this.#disagreements.set(name, { uid, message });
    const text = `The cloud did not confirm that its machine is gone: ${message}`;
    this.#narrator.tellBlocked(node, kind, text);
  }

  #noteReadiness(node: Node): void {
    const { name } = node.metadata;
    if (isReady(node)) {
      this.#notReady.delete(name);
      this.#fleet.startAnew(node);
    } else if (!this.#notReady.has(name) && this.#isOurs(node)) {
      this.#notReady.add(name);
      this.#pacer.noteFall();
    }
  }

  #isOurs(node: Node): boolean {
    const { presences } = this.#options.context;
    return !isUninitialized(node) && presences.find(node).kind !== "foreign";
  }

  #dropSettledDisagreements(): void {
    const { nodes, presences } = this.#options.context;
    for (const [name, { uid }] of this.#disagreements) {
      const node = nodes.get(name);
      const isStanding =
        node !== undefined &&
        node.metadata.uid === uid &&
        !isReady(node) &&
        presences.find(node).kind !== "present";
      if (!isStanding) this.#disagreements.delete(name);
    }
  }

  async #writeTaints(
    node: Node,
    { taints, isOff }: LifecyclePlan & { kind: "taint" },
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const message = `The shutdown taint was written ${ROUNDS_MAX} times within a minute and is not as it should be`;
    const contested = toEvent(EVENTS.taintContested, message);
    const held = this.#contest.hold(node, contested, this.#options.context.events);
    if (held) return held;
    const spec = { taints: taints.length === 0 ? null : taints };
    await this.#writer.patch(node, { spec }, signal);
    this.#contest.noteRound(node.metadata.name);
    this.#narrator.tellTaint(node, isOff);
    return {};
  }

  *#listBlocked(): Iterable<string> {
    for (const node of this.#options.context.nodes.values()) {
      const { state, reason = state } = this.#describeDeletion(node) ?? {};
      if (reason !== undefined && (state === "blocked" || state === "unconfirmed")) yield reason;
    }
  }

  #forget(name: string): void {
    this.#isStale = true;
    this.#notReady.delete(name);
    this.#narrator.forget(name);
    this.#contest.forget(name);
  }
}
