/**
 * Reconciles the out-of-service taint of one Node: reads memory, plans, sets or removes the taint.
 * @module
 */
import type { ReconcileResult } from "../../engine/workers.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { isKubeletReporting } from "../identity.ts";
import { NodeWriter } from "../node_writer.ts";
import {
  findRecord,
  formatReleasedRecord,
  isOurTaint,
  OUT_OF_SERVICE_RECORD,
  type OutOfServiceRecord,
} from "../fleet/out_of_service.ts";
import type { OutOfServiceMetrics } from "./metrics.ts";
import { OutOfServiceEvents } from "./events.ts";
import { planOutOfService, planReturn } from "./plan.ts";
import type { Restarts } from "./restarts.ts";
import type { TaintSetter } from "./setter.ts";
import type { VersionGate } from "./version_gate.ts";
import type { OutOfServiceWatch } from "./watch.ts";

/** The dependencies of the reconciler. */
interface OutOfServiceReconcilerOptions extends NodeContext {
  readonly watch: OutOfServiceWatch;
  readonly setter: TaintSetter;
  readonly restarts: Restarts;
  readonly gate: Pick<VersionGate, "isOpen">;
  readonly metrics: OutOfServiceMetrics;
}

/** Reconciles the taint of Nodes. */
export class OutOfServiceReconciler {
  readonly #options: OutOfServiceReconcilerOptions;
  readonly #writer: NodeWriter;
  readonly #events: OutOfServiceEvents;

  constructor(options: OutOfServiceReconcilerOptions) {
    this.#options = options;
    this.#writer = new NodeWriter(options);
    this.#events = new OutOfServiceEvents(options);
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#options.restarts.forget(name);
    this.#events.forget(name);
  }

  /**
   * Sets the taint, removes it, or reports why not.
   *
   * @throws {KubeError} if Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { presences, watch, restarts, gate } = this.#options;
    if (isKubeletReporting(node)) watch.restartCount(node);
    const plan = planOutOfService(node, presences.find(node), watch.judge(node));
    if (plan.kind !== "return") restarts.forget(node.metadata.name);
    switch (plan.kind) {
      case "nothing":
        break;
      case "confirm":
        await this.#set(node, plan.why, signal);
        break;
      case "blocked":
        if (gate.isOpen) this.#events.reportBlocked(node, plan.reason, plan.message);
        break;
      case "return":
        await this.#bringBack(node, plan.record, signal);
        break;
      case "release":
        await this.#note(node, formatReleasedRecord(node), signal);
        break;
      case "forget":
        await this.#note(node, null, signal);
        break;
      case "foreign":
        this.#events.reportForeign(node);
    }
    return {};
  }

  async #set(node: Node, why: "off" | "gone", signal: AbortSignal): Promise<void> {
    const { setter, metrics } = this.#options;
    const result = await setter.set(node, why, signal);
    if (result.kind === "set") {
      metrics.countTaint("set");
      this.#events.reportSet(result.node, result.evidence);
    }
    if (result.kind !== "unproven") return;
    const text = `The cloud did not confirm that the machine is ${why}: ${result.message}`;
    this.#events.reportBlocked(node, "unproven", text);
  }

  /** Reads the Node from the API server, because the store does not keep the boot ID. */
  async #bringBack(node: Node, record: OutOfServiceRecord, signal: AbortSignal): Promise<void> {
    const { client, restarts, metrics } = this.#options;
    const known = restarts.note(node);
    const fresh = await client.read(NODES, { name: node.metadata.name }, signal);
    if (fresh.metadata.uid !== node.metadata.uid || findRecord(fresh) === undefined) return;
    const bootId = fresh.status?.nodeInfo?.bootID ?? "";
    const plan = planReturn(record, {
      ...known,
      isKubeletReporting: isKubeletReporting(fresh),
      bootId,
    });
    if (plan.kind === "wait") return;
    await this.#clear(fresh, signal);
    metrics.countTaint(plan.isMistake ? "withdrawn" : "removed");
    this.#events.reportRemoved(node, plan.isMistake);
  }

  /** Writes another record, or none. Does not touch the taints, which are not ours. */
  async #note(node: Node, record: string | null, signal: AbortSignal): Promise<void> {
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: record } };
    await this.#writer.patch(node, { metadata }, signal);
  }

  /** Removes the record and Landfall's taint. */
  async #clear(node: Node, signal: AbortSignal): Promise<void> {
    const taints = (node.spec?.taints ?? []).filter((taint) => !isOurTaint(taint));
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: null } };
    const spec = { taints: taints.length === 0 ? null : taints };
    await this.#writer.patch(node, { metadata, spec }, signal);
  }
}
