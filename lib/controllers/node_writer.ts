/**
 * Writes Nodes. A write succeeds only if the Node has not changed since the plan, so it never overwrites another
 * program's change.
 * @module
 */
import type { InstanceAddress } from "../cloud/instance.ts";
import type { PatchType } from "../kube/api/client.ts";
import { type Node, NODES } from "../kube/kinds/node.ts";
import type { NodeContext } from "./context.ts";

/** The taints of a Node, as in the API. */
export type Taints = NonNullable<NonNullable<Node["spec"]>["taints"]>;

/** A merge patch for a Node, without its resourceVersion. */
export interface NodePatch {
  readonly metadata?: {
    /** `null` removes one. */
    readonly labels?: Readonly<Record<string, string | null>>;
    /** `null` removes one. */
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly spec?: {
    /** All taints that stay; `null` for none. */
    readonly taints: Taints | null;
    readonly providerID?: string;
  };
}

/** Patches Nodes with the resourceVersion that the plan used. */
export class NodeWriter {
  readonly #context: Pick<NodeContext, "client">;

  constructor(context: Pick<NodeContext, "client">) {
    this.#context = context;
  }

  /**
   * Changes labels, annotations, taints or the provider ID in one write.
   *
   * @returns The Node as it is then
   * @throws {KubeError} if Kubernetes refuses; `conflict` if the Node has changed since
   */
  patch(node: Node, { metadata, ...patch }: NodePatch, signal: AbortSignal): Promise<Node> {
    const { resourceVersion } = node.metadata;
    const body = { metadata: { ...metadata, resourceVersion }, ...patch };
    return this.#send(node, { type: "merge", body }, signal);
  }

  /**
   * Replaces all addresses. A merge would lose addresses, because its key is the type, and a Node may have two of a
   * type.
   *
   * @returns The Node as it is then
   * @throws {KubeError} if Kubernetes refuses; `conflict` if the Node has changed since
   */
  replaceAddresses(
    node: Node,
    addresses: readonly InstanceAddress[],
    signal: AbortSignal,
  ): Promise<Node> {
    const { resourceVersion } = node.metadata;
    const status = { addresses: [...addresses, { $patch: "replace" }] };
    const body = { metadata: { resourceVersion }, status };
    return this.#send(node, { type: "strategic", body, subresource: "status" }, signal);
  }

  #send(
    node: Node,
    { subresource, ...patch }: { type: PatchType; body: object; subresource?: "status" },
    signal: AbortSignal,
  ): Promise<Node> {
    const path = { name: node.metadata.name, ...(subresource && { subresource }) };
    return this.#context.client.patch(NODES, path, patch, signal);
  }
}
