/**
 * The lifecycle controller: taints Nodes whose machines are off, deletes those whose machines are proven gone.
 * @module
 */
import type { DeletionSettings, Verdict } from "../../cloud/deletion_guard.ts";
import { NODES, type Node } from "../../kube/resource.ts";
import type { ReconcileResult } from "../controller.ts";
import { isReady, isUninitialized, readyStatus, toIdentity } from "../identity.ts";
import { type NodeContext, NodeLoop } from "../node_loop.ts";
import { WarningThrottle } from "../warning_throttle.ts";
import { Deleter } from "./deleter.ts";
import { FleetWatch } from "./fleet_watch.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import { type LifecyclePlan, planLifecycle, type Taints } from "./plan.ts";
import { EVENTS } from "./words.ts";

export { createLifecycleMetrics } from "./metrics.ts";
export { COMPONENT as LIFECYCLE_COMPONENT, EVENTS as LIFECYCLE_EVENTS } from "./words.ts";

/** What the lifecycle controller works with. */
export interface NodeLifecycleControllerOptions {
  /** Its Events speak as {@linkcode LIFECYCLE_COMPONENT}. */
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

/** How often the cloud is looked at while a Node that is not Ready misses its machine. */
const OBSERVE_INTERVAL_MS = 10_000;
/** An inventory that is younger is good enough for a Node that just ceased to be Ready. */
const FRESH_MS = 5_000;

/** The lifecycle controller. It works while {@linkcode run} runs. */
export class NodeLifecycleController {
  readonly #options: NodeLifecycleControllerOptions;
  readonly #loop: NodeLoop;
  readonly #fleet: FleetWatch;
  readonly #deleter: Deleter;
  readonly #throttle: WarningThrottle;
  /** Nodes that are known to be not Ready. */
  readonly #notReady = new Set<string>();
  /** When a Node last ceased to be Ready, in monotonic milliseconds. */
  #lastFallMs = -Infinity;
  /** By name: what the cloud said instead of confirming. Stands until the machine or the kubelet is back. */
  readonly #disagreements = new Map<string, string>();

  constructor(options: NodeLifecycleControllerOptions) {
    const { context, deletion, metrics, monitorPeriodMs } = options;
    this.#options = options;
    this.#fleet = new FleetWatch(context, deletion);
    this.#deleter = new Deleter({ ...context, fleet: this.#fleet, metrics });
    this.#throttle = new WarningThrottle(context.clock);
    this.#loop = new NodeLoop({
      context,
      name: "cloud-node-lifecycle",
      queueName: "node_lifecycle",
      inputs: (node) => [isReady(node), node.spec?.providerID, node.spec?.taints],
      reconcile: (node, signal) => this.#reconcile(node, signal),
      forget: (name) => this.#forget(name),
      onRefresh: () => this.#look(),
      onTick: () => this.#look(),
      tickIntervalMs: monitorPeriodMs,
    });
    metrics.readFrom({
      readFleet: () => this.#fleet.read(),
      listBlocked: () => this.#listBlocked(),
    });
  }

  /** Runs until the signal aborts and what was under way has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Describes a Node for people. */
  describe(node: Node): LifecycleReport {
    const ready = readyStatus(node);
    const verdict = this.#fleet.judge(node);
    const disagreement = this.#disagreements.get(node.metadata.name);
    if (disagreement !== undefined) {
      return { ready, deletion: { state: "unconfirmed", message: disagreement } };
    }
    const plan = this.#plan(node);
    if (plan.kind === "blocked") {
      return { ready, deletion: { state: "blocked", reason: plan.reason, message: plan.message } };
    }
    if (verdict.kind === "keep") return { ready };
    const { kind: state, ...rest } = verdict;
    return "message" in rest
      ? { ready, deletion: { state, reason: rest.reason, message: rest.message } }
      : { ready, deletion: { state } };
  }

  /** Looks at every Node; those that need something are worked on, unless they failed and wait for their next try. */
  #look(): void {
    const { context, monitorPeriodMs } = this.#options;
    const { source, nodes } = context;
    const hasMissing = this.#fleet.look();
    this.#dropSettledDisagreements();
    for (const node of nodes.values()) {
      if (this.#plan(node).kind !== "nothing") this.#loop.enqueueUnlessWaiting(node.metadata.name);
    }
    const { ageMs = Infinity } = source;
    // Half a period, so that the pace is right on average.
    const isDue = hasMissing && ageMs + monitorPeriodMs / 2 >= OBSERVE_INTERVAL_MS;
    if (isDue || this.#isOutdated()) source.requestRefresh();
  }

  /** Whether a Node ceased to be Ready after the inventory was asked for, and that is a while ago. */
  #isOutdated(): boolean {
    const { current, ageMs = Infinity } = this.#options.context.source;
    return ageMs >= FRESH_MS && this.#lastFallMs > (current?.observedAtMs ?? -Infinity);
  }

  #plan(node: Node): LifecyclePlan {
    const presence = this.#options.context.resolver.find(toIdentity(node));
    return planLifecycle(node, presence, this.#fleet.judge(node));
  }

  async #reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { name } = node.metadata;
    this.#noteReadiness(node);
    const plan = this.#plan(node);
    switch (plan.kind) {
      case "nothing":
        break;
      case "taint":
        await this.#writeTaints(node, plan.taints, signal);
        break;
      case "blocked":
        this.#tellBlocked(node, plan.message);
        break;
      case "confirm": {
        const result = await this.#deleter.delete(node, signal);
        if (result.kind !== "unconfirmed") break;
        this.#disagreements.set(name, result.message);
        this.#tellBlocked(node, `The cloud did not confirm that it is gone: ${result.message}`);
      }
    }
    return {};
  }

  #noteReadiness(node: Node): void {
    const { context } = this.#options;
    const { name } = node.metadata;
    if (isReady(node)) this.#notReady.delete(name);
    else if (!isUninitialized(node) && !this.#notReady.has(name)) {
      this.#notReady.add(name);
      this.#lastFallMs = context.clock.monotonic();
      if (this.#isOutdated()) context.source.requestRefresh();
    }
  }

  #dropSettledDisagreements(): void {
    const { nodes, resolver } = this.#options.context;
    for (const name of this.#disagreements.keys()) {
      const node = nodes.get(name);
      const isSettled =
        node === undefined || isReady(node) || resolver.find(toIdentity(node)).kind === "present";
      if (isSettled) this.#disagreements.delete(name);
    }
  }

  async #writeTaints(node: Node, taints: Taints, signal: AbortSignal): Promise<void> {
    const { client, superseded, log } = this.#options.context;
    const { name, resourceVersion } = node.metadata;
    // The list is replaced whole, so nobody may have written it since.
    const body = {
      metadata: { resourceVersion },
      spec: { taints: taints.length === 0 ? null : taints },
    };
    const patched = await client.patch(NODES, { name }, { type: "merge", body }, signal);
    superseded.note(node, patched);
    const isAdded = taints.length > (node.spec?.taints ?? []).length;
    log.info(isAdded ? "Node tainted: its machine is off" : "Shutdown taint removed", {
      node: name,
    });
  }

  #tellBlocked(node: Node, message: string): void {
    const { type, reason } = EVENTS.deletionBlocked;
    const event = { type, reason, message };
    if (!this.#throttle.passes(node.metadata.name, event)) return;
    this.#options.context.events.record(node, event);
  }

  *#listBlocked(): Iterable<string> {
    for (const node of this.#options.context.nodes.values()) {
      if (this.#disagreements.has(node.metadata.name)) {
        yield "unconfirmed";
        continue;
      }
      const plan = this.#plan(node);
      if (plan.kind === "blocked") yield plan.reason;
    }
  }

  #forget(name: string): void {
    this.#notReady.delete(name);
    this.#disagreements.delete(name);
    this.#throttle.forget(name);
  }
}
