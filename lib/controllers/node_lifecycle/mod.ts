/**
 * The lifecycle controller: taints Nodes whose machines are off, and deletes Nodes whose machines are proven gone.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type ControllerContext, toNodeContext } from "../context.ts";
import { readFlag } from "../flags.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { UnconfirmedAbsences } from "./unconfirmed_absences.ts";
import { FleetWatch } from "../fleet/fleet_watch.ts";
import { MONITOR_FLAG } from "./flags.ts";
import { NodeScanner } from "./node_scanner.ts";
import { createLifecycleMetrics, type LifecycleMetrics } from "./metrics.ts";
import { LifecycleReconciler } from "./reconcile.ts";
import { RefreshPacer } from "./refresh_pacer.ts";
import { type LifecycleReport, LifecycleView } from "./view.ts";
import { NAME } from "./words.ts";

/** The dependencies of the lifecycle controller. */
interface NodeLifecycleControllerOptions {
  readonly context: NodeContext;
  readonly deletion: DeletionSettings;
  readonly metrics: LifecycleMetrics;
  /** Time between two checks of every Node in memory, in milliseconds. */
  readonly monitorPeriodMs: number;
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
  readonly #loop: ObjectLoop<Node>;
  readonly #fleet: FleetWatch;
  readonly #scanner: NodeScanner;
  readonly #view: LifecycleView;
  #endStandBy: (() => void) | undefined;

  constructor({ context, deletion, metrics, monitorPeriodMs }: NodeLifecycleControllerOptions) {
    const { nodes, source, workers } = context;
    const fleet = new FleetWatch(context, deletion);
    const unconfirmed = new UnconfirmedAbsences(context);
    const pacer = new RefreshPacer({ ...context, tickIntervalMs: monitorPeriodMs });
    const shared = { ...context, fleet, unconfirmed };
    const reconciler = new LifecycleReconciler({ ...shared, pacer, metrics });
    const scanner = new NodeScanner({ ...shared, reconciler });
    this.#fleet = fleet;
    this.#scanner = scanner;
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
        scanner.noteChange();
        return reconciler.reconcile(node, signal);
      },
      forget: (name) => {
        scanner.noteChange();
        reconciler.forget(name);
      },
      sources: [
        {
          subscribe: (listener) =>
            source.subscribe((changed) => {
              if (scanner.isAtRest) scanner.noteSeen(changed);
              else this.#look();
              listener([]);
            }),
        },
      ],
      onTick: () => pacer.tick(this.#look()),
      tickIntervalMs: monitorPeriodMs,
      forgetsSuccesses: true,
      isAtRest: () => scanner.isAtRest,
    });
    const { outcomes } = this.#loop;
    this.#view = new LifecycleView({ ...shared, findOutcome: (name) => outcomes.get(name) });
    metrics.readFrom({
      readFleet: () => fleet.read(),
      listBlocked: () => this.#view.listBlocked(),
    });
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
    this.#scanner.noteChange();
  }

  /** Describes a Node for the debug pages. */
  describe(node: Node): LifecycleReport {
    return this.#view.describe(node);
  }

  /** Checks every Node. Queues those that need a reconcile, unless they failed and wait for the next attempt. */
  #look(): boolean {
    return this.#scanner.look((name) => this.#loop.enqueueUnlessWaiting(name));
  }
}
