/**
 * Reconciles the out-of-service taint of one Node: reads memory, plans, sets or removes the taint, and reports it.
 * @module
 */
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import { WarningThrottle } from "../../engine/throttle.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { type NodeContext, patchNode } from "../node_context.ts";
import { isKubeletReporting, toIdentity } from "../identity.ts";
import {
  findRecord,
  formatRecord,
  formatReleasedRecord,
  isOurTaint,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
  type OutOfServiceRecord,
} from "../fleet/out_of_service.ts";
import type { OutOfServiceMetrics } from "./metrics.ts";
import { mayBeTainted, planOutOfService, planReturn } from "./plan.ts";
import type { Volumes } from "./volumes.ts";
import type { OutOfServiceWatch } from "./watch.ts";
import { EVENT_WORDS } from "./words.ts";

/** The dependencies of the reconciler. */
interface OutOfServiceReconcilerOptions extends NodeContext {
  readonly watch: OutOfServiceWatch;
  readonly provenOff: ProvenOff;
  readonly volumes: Volumes;
  readonly metrics: OutOfServiceMetrics;
}

type Proof =
  | { readonly kind: "proven"; readonly evidence: string }
  | { readonly kind: "unproven"; readonly message: string };

const { key, value, effect } = OUT_OF_SERVICE_TAINT;
const TAINT = `${key}=${value}:${effect}`;
const NO_INVENTORY: Proof = { kind: "unproven", message: "no inventory was taken yet" };

/** Reconciles the taint of Nodes. */
export class OutOfServiceReconciler {
  readonly #options: OutOfServiceReconcilerOptions;
  readonly #throttle: WarningThrottle;

  constructor(options: OutOfServiceReconcilerOptions) {
    this.#options = options;
    this.#throttle = new WarningThrottle(options.clock);
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#options.volumes.forget(name);
    this.#throttle.forget(name);
  }

  /**
   * Sets the taint, removes it, or reports why not.
   *
   * @throws {KubeError} if Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { presences, watch, volumes } = this.#options;
    if (isKubeletReporting(node)) watch.restartCount(node);
    const plan = planOutOfService(node, presences.find(node), watch.judge(node));
    if (plan.kind !== "return") volumes.endReturn(node.metadata.name);
    switch (plan.kind) {
      case "nothing":
        break;
      case "confirm":
        await this.#set(node, plan.why, signal);
        break;
      case "blocked":
        this.#reportBlocked(node, plan.reason, plan.message);
        break;
      case "return":
        await this.#bringBack(node, plan.record, signal);
        break;
      case "release":
        await this.#writeRecord(node, formatReleasedRecord(node), signal);
        break;
      case "forget":
        await this.#writeRecord(node, null, signal);
        break;
      case "foreign":
        this.#reportForeign(node);
    }
    return {};
  }

  /**
   * Sets the taint on a Node after the verdict `confirm`.
   *
   * Reads the Node before it asks the cloud, and writes with the resourceVersion of that read. So the write follows the
   * proof at once. If the kubelet reports during the request to the cloud, the write is a conflict.
   */
  async #set(node: Node, why: "off" | "gone", signal: AbortSignal): Promise<void> {
    const { client, watch, metrics, events, log } = this.#options;
    const { name } = node.metadata;
    const fresh = await client.read(NODES, { name }, signal);
    if (!isSameNode(node, fresh)) return;
    const proof = await (why === "off"
      ? this.#proveOff(fresh, signal)
      : this.#proveGone(fresh, signal));
    if (proof.kind === "unproven") {
      watch.restartCount(node);
      const text = `The cloud did not confirm that the machine is ${why}: ${proof.message}`;
      return this.#reportBlocked(node, "unproven", text);
    }
    // During the request, the inventory may have changed, or other machines may have vanished.
    const verdict = watch.judge(node);
    if (verdict.kind !== "confirm" || verdict.why !== why) return;
    signal.throwIfAborted();
    watch.noteOutOfService(fresh);
    const tainted = await this.#writeTaint(fresh, signal);
    metrics.countTaint("set");
    const { evidence } = proof;
    const message = `Set the taint ${TAINT}, so that Kubernetes detaches the volumes: ${evidence}`;
    events.record(tainted, toEvent(EVENT_WORDS.taintSet, message));
    log.warn("Out-of-service taint set", { node: name, evidence });
  }

  async #proveOff(node: Node, signal: AbortSignal): Promise<Proof> {
    const { provenOff, source } = this.#options;
    const { current: inventory } = source;
    if (inventory === undefined) return NO_INVENTORY;
    const labels = node.metadata.labels ?? {};
    const question = { inventory, node: toIdentity(node), labels };
    const reading = await provenOff.readPower(question, signal);
    if (reading.kind === "off") return { kind: "proven", evidence: reading.evidence };
    const isOn = reading.kind === "on";
    const message = isOn ? "a direct request shows that it is not off" : reading.message;
    return { kind: "unproven", message };
  }

  async #proveGone(node: Node, signal: AbortSignal): Promise<Proof> {
    const { provider, source } = this.#options;
    const { current } = source;
    if (current === undefined) return NO_INVENTORY;
    const answer = await provider.readInstance(current, toIdentity(node), signal);
    if (answer.kind === "absent") return { kind: "proven", evidence: answer.evidence };
    const isUnknown = answer.kind === "unknown";
    const message = isUnknown ? answer.message : "a direct request shows the machine";
    return { kind: "unproven", message };
  }

  /** Reads the Node from the API server, because the store does not keep the boot ID. */
  async #bringBack(node: Node, record: OutOfServiceRecord, signal: AbortSignal): Promise<void> {
    const { client, volumes, metrics, events, log } = this.#options;
    const { name } = node.metadata;
    const known = volumes.noteReturn(node);
    const fresh = await client.read(NODES, { name }, signal);
    if (fresh.metadata.uid !== node.metadata.uid || findRecord(fresh) === undefined) return;
    const bootId = fresh.status?.nodeInfo?.bootID ?? "";
    const facts = { ...known, isKubeletReporting: isKubeletReporting(fresh), bootId };
    const plan = planReturn(record, facts);
    if (plan.kind === "wait") return;
    await this.#removeTaint(fresh, signal);
    metrics.countTaint(plan.isMistake ? "withdrawn" : "removed");
    if (plan.isMistake) {
      const why = "the kubelet reports the same boot ID as before, so the machine was never off";
      const message = `Removed the taint ${TAINT} at once: ${why}; check its volumes`;
      events.record(node, toEvent(EVENT_WORDS.taintWithdrawn, message));
      log.error("Out-of-service taint withdrawn: the machine was never off", { node: name });
    } else {
      const message = `Removed the taint ${TAINT}: the machine runs again`;
      events.record(node, toEvent(EVENT_WORDS.taintRemoved, message));
      log.info("Out-of-service taint removed", { node: name });
    }
  }

  #writeTaint(node: Node, signal: AbortSignal): Promise<Node> {
    const bootId = node.status?.nodeInfo?.bootID ?? "";
    const record = formatRecord({ timeMs: this.#options.clock.now(), bootId });
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: record } };
    const taints = [...(node.spec?.taints ?? []), OUT_OF_SERVICE_TAINT];
    return patchNode(this.#options.client, node, { metadata, spec: { taints } }, signal);
  }

  /** Removes the record and Landfall's taint. */
  async #removeTaint(node: Node, signal: AbortSignal): Promise<void> {
    const taints = (node.spec?.taints ?? []).filter((taint) => !isOurTaint(taint));
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: null } };
    const spec = { taints: taints.length === 0 ? null : taints };
    await patchNode(this.#options.client, node, { metadata, spec }, signal);
  }

  /** Writes another record, or none. Does not touch the taints, which are not ours. */
  async #writeRecord(node: Node, record: string | null, signal: AbortSignal): Promise<void> {
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: record } };
    await patchNode(this.#options.client, node, { metadata }, signal);
  }

  /** Reports why Landfall does not set the taint. @param why The reason as one word */
  #reportBlocked(node: Node, why: string, explanation: string): void {
    const message = `Landfall does not set the out-of-service taint: ${explanation}`;
    if (!this.#recordOnce(node, EVENT_WORDS.blocked, why, message)) return;
    const fields = { node: node.metadata.name, reason: why, explanation };
    this.#options.log.warn("Out-of-service taint not set", fields);
  }

  /** Reports a Ready Node with a taint that Landfall did not set. */
  #reportForeign(node: Node): void {
    const why = "Landfall did not set it and does not remove it";
    const advice = `if the machine works, remove it: kubectl taint node ${node.metadata.name} ${key}-`;
    const message = `The Node is Ready and has the taint ${key}: ${why}; ${advice}`;
    this.#recordOnce(node, EVENT_WORDS.foreign, "foreign", message);
  }

  /** Records the same reason at most once in five minutes for each Node. */
  #recordOnce(node: Node, word: EventWord, why: string, message: string): boolean {
    if (!this.#throttle.passes(node.metadata.name, toEvent(word, why))) return false;
    this.#options.events.record(node, toEvent(word, message));
    return true;
  }
}

/** Whether a Node is still the one that was judged, and has no such taint. */
function isSameNode(before: Node, after: Node): boolean {
  return (
    after.metadata.uid === before.metadata.uid &&
    after.spec?.providerID === before.spec?.providerID &&
    after.status?.nodeInfo?.systemUUID === before.status?.nodeInfo?.systemUUID &&
    findRecord(after) === undefined &&
    listOutOfServiceTaints(after).length === 0 &&
    mayBeTainted(after)
  );
}
