/**
 * What a Node tells a cloud about itself.
 * @module
 */
import type { NodeIdentity } from "../../cloud/provider.ts";
import type { Node } from "../../kube/resource.ts";
import { UNINITIALIZED_TAINT } from "./words.ts";

/** The identity of a Node; empty strings on the wire count as absent. */
export function toIdentity(node: Node): NodeIdentity {
  const providerId = node.spec?.providerID;
  const systemUuid = node.status?.nodeInfo?.systemUUID;
  return {
    name: node.metadata.name,
    ...(providerId ? { providerId } : {}),
    ...(systemUuid ? { systemUuid } : {}),
  };
}

/** Whether a Node still waits for its cloud. */
export function isUninitialized(node: Node): boolean {
  return node.spec?.taints?.some((taint) => taint.key === UNINITIALIZED_TAINT) ?? false;
}
