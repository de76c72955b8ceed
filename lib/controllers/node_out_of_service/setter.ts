/**
 * Sets the out-of-service taint, after one more direct request to Kubernetes and to the cloud.
 * @module
 */
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { toIdentity } from "../identity.ts";
import { NodeWriter } from "../node_writer.ts";
import {
  findRecord,
  formatRecord,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
} from "../fleet/out_of_service.ts";
import { mayBeTainted } from "./plan.ts";
import type { VersionGate } from "./version_gate.ts";
import type { OutOfServiceWatch } from "./watch.ts";

/** The result. Only `set` changes the Node. */
type SetResult =
  | { readonly kind: "set"; readonly node: Node; readonly evidence: string }
  /** A direct request to the cloud did not prove it. */
  | { readonly kind: "unproven"; readonly message: string }
  /** Kubernetes is too old, or the Node changed after the decision. */
  | { readonly kind: "overtaken" };

/** The dependencies of a {@linkcode TaintSetter}. */
interface TaintSetterOptions extends NodeContext {
  readonly watch: OutOfServiceWatch;
  readonly provenOff: ProvenOff;
  readonly gate: Pick<VersionGate, "check">;
}

/** Sets taints. */
export class TaintSetter {
  readonly #options: TaintSetterOptions;
  readonly #writer: NodeWriter;

  constructor(options: TaintSetterOptions) {
    this.#options = options;
    this.#writer = new NodeWriter(options);
  }

  /**
   * Sets the taint on a Node after the verdict `confirm`.
   *
   * Reads the Node before it asks the cloud, and writes with the resourceVersion of that read. So the write follows the
   * proof at once. If the kubelet reports during the request to the cloud, the write is a conflict.
   *
   * @throws {KubeError} if Kubernetes refuses
   */
  async set(node: Node, why: "off" | "gone", signal: AbortSignal): Promise<SetResult> {
    const { client, gate, watch } = this.#options;
    if (!(await gate.check(signal))) return { kind: "overtaken" };
    const fresh = await client.read(NODES, { name: node.metadata.name }, signal);
    if (!isSameNode(node, fresh)) return { kind: "overtaken" };
    const proof = await (why === "off"
      ? this.#proveOff(fresh, signal)
      : this.#proveGone(fresh, signal));
    if (proof.kind === "unproven") {
      watch.restartCount(node);
      return proof;
    }
    // During the request, the inventory may have changed, or other machines may have vanished.
    const verdict = watch.judge(node);
    if (verdict.kind !== "confirm" || verdict.why !== why) return { kind: "overtaken" };
    signal.throwIfAborted();
    watch.noteOutOfService(fresh);
    return { kind: "set", node: await this.#write(fresh, signal), evidence: proof.evidence };
  }

  async #proveOff(node: Node, signal: AbortSignal): Promise<Proof> {
    const { provenOff, source } = this.#options;
    const { current: inventory } = source;
    if (inventory === undefined) return { kind: "unproven", message: "no inventory was taken yet" };
    const labels = node.metadata.labels ?? {};
    const question = { inventory, node: toIdentity(node), labels };
    const reading = await provenOff.readPower(question, signal);
    if (reading.kind === "off") return { kind: "proven", evidence: reading.evidence };
    const isOn = reading.kind === "on";
    return {
      kind: "unproven",
      message: isOn ? "a direct request shows that it is not off" : reading.message,
    };
  }

  async #proveGone(node: Node, signal: AbortSignal): Promise<Proof> {
    const { provider, source } = this.#options;
    const { current } = source;
    if (current === undefined) return { kind: "unproven", message: "no inventory was taken yet" };
    const answer = await provider.readInstance(current, toIdentity(node), signal);
    if (answer.kind === "absent") return { kind: "proven", evidence: answer.evidence };
    const message =
      answer.kind === "unknown" ? answer.message : "a direct request shows the machine";
    return { kind: "unproven", message };
  }

  #write(node: Node, signal: AbortSignal): Promise<Node> {
    const { clock } = this.#options;
    const bootId = node.status?.nodeInfo?.bootID ?? "";
    const record = formatRecord({ timeMs: clock.now(), bootId });
    const metadata = { annotations: { [OUT_OF_SERVICE_RECORD]: record } };
    const taints = [...(node.spec?.taints ?? []), OUT_OF_SERVICE_TAINT];
    return this.#writer.patch(node, { metadata, spec: { taints } }, signal);
  }
}

type Proof =
  | { readonly kind: "proven"; readonly evidence: string }
  | { readonly kind: "unproven"; readonly message: string };

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
