/**
 * The lifecycle controller: taints Nodes whose machines are off, and deletes Nodes whose machines are proven gone.
 * @module
 */
import type { DeletionSettings, Verdict } from "../../cloud/deletion/guard.ts";
import type { ChangeHint } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type NodeContext, toNodeContext } from "../node_context.ts";
import { type ControllerContext, readFlag } from "../definition.ts";
import { isReady, readyStatus } from "../identity.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { FleetWatch } from "../fleet/fleet_watch.ts";
import { RefreshPacer } from "../fleet/refresh_pacer.ts";
import { MONITOR_FLAG, NAME } from "./words.ts";
import { createLifecycleMetrics, type LifecycleMetrics } from "./metrics.ts";
import { planLifecycle } from "./plan.ts";
import { LifecycleReconciler } from "./reconcile.ts";

export { createLifecycleMetrics as registerMetrics } from "./metrics.ts";

/** The dependencies of the lifecycle controller. */
interface NodeLifecycleControllerOptions {
  readonly context: NodeContext;
  readonly deletion: DeletionSettings;
  readonly metrics: LifecycleMetrics;
  /** Time between two checks of every Node in memory, in milliseconds. */
  readonly monitorPeriodMs: number;
}

/** What the debug pages show about one Node. */
export interface LifecycleReport {
  /** Status of the condition Ready. */
  readonly ready: string;
  /** How far a deletion is, and what it waits for. Absent while the machine is present. */
  readonly deletion?: {
    readonly state: Exclude<Verdict["kind"], "keep"> | "unconfirmed";
    readonly reason?: string;
    readonly message?: string;
  };
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext<DeletionSettings>): NodeLifecycleController {
  return new NodeLifecycleController({
    context: toNodeContext(context),
    deletion: context.settings,
    metrics: createLifecycleMetrics(context.metrics),
    monitorPeriodMs: readFlag(context.flags, MONITOR_FLAG),
  });
}

/** The lifecycle controller. */
export class NodeLifecycleController {
  readonly #context: NodeContext;
  readonly #loop: ObjectLoop<Node>;
  readonly #fleet: FleetWatch;
  readonly #reconciler: LifecycleReconciler;
  #endStandBy: (() => void) | undefined;
  /** Whether a Node or the settings changed since the last look. */
  #isStale = true;
  /** The revision of the inventory that the last look saw. */
  #seen: number | undefined;

  constructor({ context, deletion, metrics, monitorPeriodMs }: NodeLifecycleControllerOptions) {
    const { nodes, source, workers } = context;
    const fleet = new FleetWatch(context, deletion);
    const pacer = new RefreshPacer({ ...context, tickIntervalMs: monitorPeriodMs });
    const reconciler = new LifecycleReconciler({ ...context, fleet, pacer, metrics });
    this.#context = context;
    this.#fleet = fleet;
    this.#reconciler = reconciler;
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "node_lifecycle",
      noun: "node",
      objects: nodes,
      workers,
      inputs: (node) => [
        isReady(node),
        node.spec?.providerID,
        node.spec?.taints,
        node.metadata.labels,
      ],
      reconcile: (node, signal) => {
        this.#isStale = true;
        return reconciler.reconcile(node, signal);
      },
      forget: (name) => {
        this.#isStale = true;
        reconciler.forget(name);
      },
      sources: [
        {
          subscribe: (listener) =>
            source.subscribe((changed) => {
              if (this.#isAtRest) this.#noteSeen(changed);
              else this.#look();
              listener([]);
            }),
        },
      ],
      onTick: () => pacer.tick(this.#look()),
      tickIntervalMs: monitorPeriodMs,
      forgetsSuccesses: true,
      isAtRest: () => this.#isAtRest,
    });
    metrics.readFrom({ readFleet: () => fleet.read(), listBlocked: () => this.#listBlocked() });
  }

  /** Collects what it must know about the fleet before it runs; writes nothing. See {@linkcode FleetWatch.standBy}. */
  standBy(): void {
    this.#endStandBy ??= this.#fleet.standBy();
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  run(signal: AbortSignal): Promise<void> {
    this.#endStandBy?.();
    return this.#loop.run(signal);
  }

  /**
   * Uses other settings from now on. Counts of missing machines start again.
   *
   * @param options.isOtherCloud Whether the next inventories come from another cloud, where no machine was seen yet
   */
  reconfigure(deletion: DeletionSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#fleet.reconfigure(deletion, options);
    this.#isStale = true;
  }

  /** Describes a Node for the debug pages. */
  describe(node: Node): LifecycleReport {
    const ready = readyStatus(node);
    const deletion = this.#describeDeletion(node);
    return deletion ? { ready, deletion } : { ready };
  }

  /** Whether the next look would have the same result: all are Ready, no machine is missing, and nothing changed. */
  get #isAtRest(): boolean {
    const { revision, lastError } = this.#context.source;
    if (this.#isStale || lastError || revision !== this.#seen) return false;
    return this.#reconciler.areAllReady && this.#fleet.hasNoLosses;
  }

  /** Records that instances which were read one by one were seen. They need no look at every Node. */
  #noteSeen(changed: ChangeHint): void {
    const { nodes, presences } = this.#context;
    if (changed === "everything") return;
    for (const name of presences.listAffected(changed, nodes.values())) {
      const node = nodes.get(name);
      if (node && presences.find(node).kind === "present") this.#fleet.noteSeen(node);
    }
  }

  /**
   * Looks at every Node in memory. Queues those that need a reconcile, unless they failed and wait for another attempt.
   *
   * @returns Whether the machine of a Node that is not Ready is missing
   */
  #look(): boolean {
    if (this.#isAtRest) return false;
    const { nodes, presences, source } = this.#context;
    this.#isStale = false;
    this.#seen = source.revision;
    const hasMissing = this.#fleet.look();
    for (const node of nodes.values()) {
      // Most Nodes need no plan, and this loop runs often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      const presence = presences.find(node);
      if (presence.kind === "present") this.#reconciler.dropAnswer(node.metadata.name);
      const plan = planLifecycle(node, presence, this.#fleet.judge(node));
      if (plan.kind !== "nothing") this.#loop.enqueueUnlessWaiting(node.metadata.name);
    }
    return hasMissing;
  }

  /** Lists one reason for each Node that Landfall keeps although the cloud does not show its machine. */
  *#listBlocked(): Iterable<string> {
    for (const node of this.#context.nodes.values()) {
      const { state, reason = state } = this.#describeDeletion(node) ?? {};
      if (reason !== undefined && (state === "blocked" || state === "unconfirmed")) yield reason;
    }
  }

  #describeDeletion(node: Node): LifecycleReport["deletion"] {
    const presence = this.#context.presences.find(node);
    if (presence.kind === "present") return undefined;
    const verdict = this.#fleet.judge(node);
    const plan = planLifecycle(node, presence, verdict);
    if (plan.kind === "blocked") {
      return { state: "blocked", reason: plan.reason, message: plan.message };
    }
    const answer = this.#reconciler.findAnswer(node);
    if (answer !== undefined) return { state: "unconfirmed", message: answer };
    if (verdict.kind === "keep") return undefined;
    if (verdict.kind === "confirm") {
      const failure = this.#loop.outcomes.get(node.metadata.name)?.error;
      return { state: "confirm", message: failure ?? "Landfall asks the cloud to confirm it" };
    }
    return { state: verdict.kind, reason: verdict.reason, message: verdict.message };
  }
}
