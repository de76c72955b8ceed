/**
 * The out-of-service controller: lets Kubernetes detach the volumes of Nodes whose machines are proven off or gone.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../cloud/deletion/off_streaks.ts";
import { DELETION } from "../../cloud/deletion/settings.ts";
import { assert } from "../../core/assert.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { VOLUME_ATTACHMENTS, type VolumeAttachment } from "../../kube/kinds/volume_attachment.ts";
import { type ControllerContext, type NodeContext, toNodeContext } from "../context.ts";
import { readFlag } from "../flags.ts";
import { isReady, readyStatus } from "../identity.ts";
import {
  EXCLUSION_LABEL,
  isOutOfServiceByUs,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
} from "../fleet/out_of_service.ts";
import { Attachments } from "./attachments.ts";
import { GRACE_FLAG, SYNC_FLAG } from "./flags.ts";
import { VolumeHold } from "./hold.ts";
import { createOutOfServiceMetrics, type OutOfServiceMetrics } from "./metrics.ts";
import { planOutOfService } from "./plan.ts";
import { OutOfServiceReconciler } from "./reconcile.ts";
import { Returns } from "./returns.ts";
import { TaintSetter } from "./setter.ts";
import { VersionGate } from "./version_gate.ts";
import { OutOfServiceWatch } from "./watch.ts";
import { NAME } from "./words.ts";

/** What the out-of-service controller works with. */
export interface NodeOutOfServiceControllerOptions {
  readonly context: NodeContext;
  readonly attachments: StoreReader<VolumeAttachment>;
  readonly settings: OutOfServiceSettings;
  /** The settings of deletions as they are now: the limit of the fleet is one for both. */
  readonly findDeletion: () => DeletionSettings;
  readonly metrics: OutOfServiceMetrics;
  /** How often every Node is looked at, in memory, in milliseconds. */
  readonly syncPeriodMs: number;
  /** Least time that a machine must be off, even if the settings say less, in milliseconds. */
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

/** How often the cloud is looked at, at most, while a machine that is off is watched. */
const OBSERVE_INTERVAL_MS = 10_000;

/** What the debug pages show of one Node. */
export interface OutOfServiceReport {
  /** Absent when there is nothing to tell. */
  readonly outOfService?: { readonly state: string; readonly message?: string };
}

/** The out-of-service controller. It works while {@linkcode run} runs. */
export class NodeOutOfServiceController {
  readonly #options: NodeOutOfServiceControllerOptions;
  readonly #loop: ObjectLoop<Node>;
  readonly #watch: OutOfServiceWatch;
  readonly #gate: VersionGate;
  readonly #hold: VolumeHold;
  #endStandBy: (() => void) | undefined;
  /** Whether a look may find something that the last one did not. */
  #isStale = true;
  #isIdle = false;
  /** The revision of the inventory that the last look saw. */
  #seen: number | undefined;

  constructor(options: NodeOutOfServiceControllerOptions) {
    const { context, metrics, syncPeriodMs, findDeletion } = options;
    const { provenOff } = context.provider;
    assert(provenOff !== undefined, "a cloud that cannot prove that a machine is off is refused");
    this.#options = options;
    const attachments = new Attachments(options.attachments);
    const settings = this.#toSettings(options.settings);
    const watch = new OutOfServiceWatch({
      context,
      provenOff,
      settings,
      findDeletion,
      attachments,
    });
    const gate = new VersionGate(context);
    const setter = new TaintSetter({ ...context, watch, provenOff, gate });
    const returns = new Returns(context.clock, attachments);
    const reconciler = new OutOfServiceReconciler({
      ...context,
      watch,
      setter,
      returns,
      gate,
      metrics,
    });
    const hold = new VolumeHold({ ...context, attachments, isActive: () => gate.isOpen });
    context.holds?.add((node) => hold.find(node));
    this.#watch = watch;
    this.#gate = gate;
    this.#hold = hold;
    const { nodes, source, written, workers } = context;
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "node_out_of_service",
      noun: "node",
      objects: nodes,
      written,
      workers,
      inputs: (node) => [
        readyStatus(node),
        node.spec?.providerID,
        node.spec?.taints,
        node.metadata.annotations?.[OUT_OF_SERVICE_RECORD],
        node.metadata.labels?.[EXCLUSION_LABEL],
      ],
      reconcile: (node, signal) => {
        this.#isStale = true;
        return reconciler.reconcile(node, signal);
      },
      forget: (name) => {
        this.#isStale = true;
        hold.forget(name);
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
      onTick: () => this.#tick(),
      tickIntervalMs: syncPeriodMs,
      forgetsSuccesses: true,
      isAtRest: () => this.#isAtRest,
    });
    metrics.readFrom(() => [...context.nodes.values()].filter(isOutOfServiceByUs).length);
  }

  /** Remembers whose machines were seen, and which Nodes went. */
  standBy(): void {
    this.#endStandBy ??= this.#watch.follow();
  }

  /** Runs until the signal aborts and what was under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    // Deletions by another controller count here, too, so this goes on.
    this.standBy();
    try {
      await Promise.all([this.#gate.run(signal), this.#loop.run(signal)]);
    } finally {
      this.#endStandBy?.();
    }
  }

  /** Uses other settings from now on; every count starts from nothing. */
  reconfigure(settings: OutOfServiceSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#watch.reconfigure(this.#toSettings(settings), options);
    this.#isStale = true;
  }

  /** Describes a Node for people. */
  describe(node: Node): OutOfServiceReport {
    if (isOutOfServiceByUs(node)) return { outOfService: { state: "tainted" } };
    if (listOutOfServiceTaints(node).length > 0)
      return { outOfService: { state: "taintedByOthers" } };
    const verdict = this.#watch.judge(node);
    if (verdict.kind === "keep" || isReady(node)) return {};
    const { kind: state } = verdict;
    return { outOfService: "message" in verdict ? { state, message: verdict.message } : { state } };
  }

  /** Whether a look would see what the last one saw: all Nodes Ready and without the taint, and nothing changed. */
  get #isAtRest(): boolean {
    const { revision, lastError } = this.#options.context.source;
    return this.#isIdle && !this.#isStale && revision === this.#seen && lastError === undefined;
  }

  #toSettings(settings: OutOfServiceSettings): OutOfServiceSettings {
    return { ...settings, graceMs: Math.max(settings.graceMs, this.#options.leastGraceMs) };
  }

  #tick(): void {
    const isWaiting = this.#look();
    const { source } = this.#options.context;
    const pauseMs = Math.max(OBSERVE_INTERVAL_MS, this.#options.syncPeriodMs);
    // Half a tick early is nearer to the pace than half a tick late.
    const isDue = (source.ageMs ?? 0) + this.#options.syncPeriodMs / 2 >= pauseMs;
    if (isWaiting && isDue) source.requestRefresh();
  }

  /** Looks at every Node in memory. @returns Whether a Node waits for another look at its machine */
  #look(): boolean {
    const { nodes, presences, source } = this.#options.context;
    this.#isStale = false;
    this.#seen = source.revision;
    this.#watch.look();
    let isIdle = true;
    let isWaiting = false;
    for (const node of nodes.values()) {
      // Of most Nodes there is nothing to plan, and this happens often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      const verdict = this.#watch.judge(node);
      isIdle = false;
      isWaiting ||= verdict.kind === "waiting";
      const plan = planOutOfService(node, presences.find(node), verdict);
      if (plan.kind !== "nothing") this.#loop.enqueueUnlessWaiting(node.metadata.name);
    }
    this.#isIdle = isIdle;
    this.#endHolds();
    return isWaiting;
  }

  #endHolds(): void {
    const { nodes, presences } = this.#options.context;
    for (const name of this.#hold.names) {
      const node = nodes.get(name);
      const isThere = node && (isReady(node) || presences.find(node).kind === "present");
      if (isThere ?? true) this.#hold.forget(name);
    }
  }
}
