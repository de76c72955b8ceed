/**
 * What a Node tells a cloud about itself, and what a controller must know of it before anything else.
 * @module
 */
import type { NodeIdentity } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { TOPOLOGY_LABELS, UNINITIALIZED_TAINT } from "./words.ts";

/** The identity of a Node; empty strings on the wire count as absent. */
export function toIdentity(node: Node): NodeIdentity {
  const providerId = node.spec?.providerID;
  const systemUuid = node.status?.nodeInfo?.systemUUID;
  const { labels } = node.metadata;
  const region = labels?.[TOPOLOGY_LABELS.region[0]];
  return {
    name: node.metadata.name,
    ...(providerId ? { providerId } : {}),
    ...(systemUuid ? { systemUuid } : {}),
    ...(region ? { region } : {}),
    ...(labels ? { labels } : {}),
  };
}

/** Whether a Node still waits for its cloud. */
export function isUninitialized(node: Node): boolean {
  return node.spec?.taints?.some((taint) => taint.key === UNINITIALIZED_TAINT) ?? false;
}

/** Whether the kubelet of a Node says that it is ready, and was heard of lately. */
export function isReady(node: Node): boolean {
  return readyStatus(node) === "True";
}

/**
 * Whether Kubernetes hears the kubelet of a Node, ready or not: of a silent one it writes `Unknown`. A machine whose
 * kubelet is heard runs, even if its cloud says that it does not.
 */
export function isHeard(node: Node): boolean {
  return readyStatus(node) !== "Unknown";
}

/** The status of the condition `Ready`: `Unknown` when there is none. */
export function readyStatus(node: Node): string {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status ?? "Unknown";
}
