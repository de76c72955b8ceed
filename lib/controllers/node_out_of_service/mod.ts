/**
 * The out-of-service controller: lets Kubernetes detach the volumes of Nodes whose machines are proven off or gone.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../cloud/deletion/streak.ts";
import { DELETION } from "../../cloud/settings/sections.ts";
import { assert } from "../../core/errors.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { VOLUME_ATTACHMENTS, type VolumeAttachment } from "../../kube/kinds/volume_attachment.ts";
import { type NodeContext, toNodeContext } from "../node_context.ts";
import { type ControllerContext, readFlag } from "../definition.ts";
import { isReady, readyStatus } from "../identity.ts";
import {
  isOutOfServiceByUs,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
} from "../fleet/out_of_service.ts";
import { RefreshPacer } from "../fleet/refresh_pacer.ts";
import { GRACE_FLAG, NAME, SYNC_FLAG } from "./words.ts";
import { createOutOfServiceMetrics, type OutOfServiceMetrics } from "./metrics.ts";
import { planOutOfService } from "./plan.ts";
import { OutOfServiceReconciler } from "./reconcile.ts";
import { Volumes } from "./volumes.ts";
import { OutOfServiceWatch } from "./watch.ts";

export { createOutOfServiceMetrics as registerMetrics } from "./metrics.ts";

/** The dependencies of the out-of-service controller. */
interface NodeOutOfServiceControllerOptions {
  readonly context: NodeContext;
  readonly attachments: StoreReader<VolumeAttachment>;
  readonly settings: OutOfServiceSettings;
  /** Returns the current deletion settings: both controllers share one fleet limit. */
  readonly findDeletion: () => DeletionSettings;
  readonly metrics: OutOfServiceMetrics;
  /** Time between two checks of every Node in memory, in milliseconds. */
  readonly syncPeriodMs: number;
  /** Minimum time that a machine must be off, even if the settings say less, in milliseconds. */
  readonly leastGraceMs: number;
}

/** Creates the controller for the registry. */
export function create(
  context: ControllerContext<OutOfServiceSettings>,
): NodeOutOfServiceController {
  return new NodeOutOfServiceController({
    context: toNodeContext(context),
    attachments: context.caches.optionalReader(VOLUME_ATTACHMENTS),
    settings: context.settings,
    findDeletion: () => context.findSettings(DELETION),
    metrics: createOutOfServiceMetrics(context.metrics),
    syncPeriodMs: readFlag(context.flags, SYNC_FLAG),
    leastGraceMs: readFlag(context.flags, GRACE_FLAG),
  });
}

/** What the debug pages show about one Node. */
export interface OutOfServiceReport {
  /** Absent if there is nothing to report. */
  readonly outOfService?: { readonly state: string; readonly message?: string };
}

/** The out-of-service controller. */
export class NodeOutOfServiceController {
  readonly #options: NodeOutOfServiceControllerOptions;
  readonly #loop: ObjectLoop<Node>;
  readonly #watch: OutOfServiceWatch;
  readonly #volumes: Volumes;
  #endStandBy: (() => void) | undefined;
  /** Whether the next look may have another result than the last one. */
  #isStale = true;
  #isIdle = false;
  /** The revision of the inventory that the last look saw. */
  #seen: number | undefined;

  constructor(options: NodeOutOfServiceControllerOptions) {
    const { context, metrics, syncPeriodMs, findDeletion } = options;
    const { provenOff } = context.provider;
    assert(provenOff !== undefined, "this controller runs only with a cloud that has provenOff");
    provenOff.prepare?.();
    this.#options = options;
    const volumes = new Volumes(options.attachments, context.clock);
    const settings = this.#toSettings(options.settings);
    const watch = new OutOfServiceWatch({ context, provenOff, settings, findDeletion, volumes });
    const own = { watch, provenOff, volumes, metrics };
    const reconciler = new OutOfServiceReconciler({ ...context, ...own });
    context.holds?.add((node) => volumes.explainHold(node));
    this.#watch = watch;
    this.#volumes = volumes;
    const { nodes, source, workers } = context;
    const pacer = new RefreshPacer({ ...context, tickIntervalMs: syncPeriodMs });
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "node_out_of_service",
      noun: "node",
      objects: nodes,
      workers,
      inputs: (node) => [
        readyStatus(node),
        node.spec?.providerID,
        node.spec?.taints,
        node.metadata.annotations?.[OUT_OF_SERVICE_RECORD],
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
            source.subscribe(() => {
              this.#look();
              listener([]);
            }),
        },
      ],
      onTick: () => pacer.tick(this.#look()),
      tickIntervalMs: syncPeriodMs,
      forgetsSuccesses: true,
      isAtRest: () => this.#isAtRest,
    });
    metrics.readFrom(() => [...context.nodes.values()].filter(isOutOfServiceByUs).length);
  }

  /** Records which machines were seen, and which Nodes were deleted. */
  standBy(): void {
    this.#endStandBy ??= this.#watch.follow();
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    // Deletions by another controller count against the same limit, so this continues.
    this.standBy();
    try {
      await this.#loop.run(signal);
    } finally {
      this.#endStandBy?.();
    }
  }

  /** Uses other settings from now on. Every count starts from zero. */
  reconfigure(settings: OutOfServiceSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#watch.reconfigure(this.#toSettings(settings), options);
    this.#isStale = true;
  }

  /** Describes a Node for the debug pages. */
  describe(node: Node): OutOfServiceReport {
    if (isOutOfServiceByUs(node)) return { outOfService: { state: "tainted" } };
    if (listOutOfServiceTaints(node).length > 0)
      return { outOfService: { state: "taintedByOthers" } };
    const verdict = this.#watch.judge(node);
    if (verdict.kind === "keep" || isReady(node)) return {};
    const { kind: state } = verdict;
    return { outOfService: "message" in verdict ? { state, message: verdict.message } : { state } };
  }

  /** Whether the next look would give the same result: all Nodes are Ready and have no taint, and nothing changed. */
  get #isAtRest(): boolean {
    const { revision, lastError } = this.#options.context.source;
    return this.#isIdle && !this.#isStale && revision === this.#seen && lastError === undefined;
  }

  #toSettings(settings: OutOfServiceSettings): OutOfServiceSettings {
    return { ...settings, graceMs: Math.max(settings.graceMs, this.#options.leastGraceMs) };
  }

  /** Checks every Node in memory. @returns Whether a Node waits for a newer inventory */
  #look(): boolean {
    const { nodes, presences, source } = this.#options.context;
    this.#isStale = false;
    this.#seen = source.revision;
    this.#watch.look();
    let isIdle = true;
    let isWaiting = false;
    for (const node of nodes.values()) {
      // Most Nodes need no plan, and this loop runs often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      const verdict = this.#watch.judge(node);
      isIdle = false;
      isWaiting ||= verdict.kind === "waiting";
      const plan = planOutOfService(node, presences.find(node), verdict);
      if (plan.kind !== "nothing") this.#loop.enqueueUnlessWaiting(node.metadata.name);
      // Its machine went off again before its kubelet reported: no Node is reconciled for that.
      else this.#volumes.endReturn(node.metadata.name);
    }
    this.#isIdle = isIdle;
    this.#endHolds();
    return isWaiting;
  }

  #endHolds(): void {
    const { nodes, presences } = this.#options.context;
    for (const name of this.#volumes.held) {
      const node = nodes.get(name);
      const isThere = node && (isReady(node) || presences.find(node).kind === "present");
      if (isThere ?? true) this.#volumes.endHold(name);
    }
  }
}
