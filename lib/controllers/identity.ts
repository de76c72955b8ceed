/**
 * Reads the basic facts of a Node: its identity for the cloud, its uninitialized taint, its condition Ready.
 * @module
 */
import type { NodeIdentity } from "../cloud/instance.ts";
import type { Presence } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { TOPOLOGY_LABELS, UNINITIALIZED_TAINT } from "./words.ts";

/** Returns the identity of a Node; empty strings from the API count as absent. */
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

/** Whether a Node has the uninitialized taint. */
export function isUninitialized(node: Node): boolean {
  return node.spec?.taints?.some((taint) => taint.key === UNINITIALIZED_TAINT) ?? false;
}

/** Whether the condition `Ready` of a Node is `True`. */
export function isReady(node: Node): boolean {
  return readyStatus(node) === "True";
}

/**
 * Whether the kubelet of a Node reports its status, Ready or not. If it stops, Kubernetes sets the condition `Ready` to
 * `Unknown`. A machine whose kubelet reports is running, even if its cloud says that it is off.
 */
export function isKubeletReporting(node: Node): boolean {
  return readyStatus(node) !== "Unknown";
}

/** Returns the status of the condition `Ready`; `Unknown` without this condition. */
export function readyStatus(node: Node): string {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status ?? "Unknown";
}

/**
 * Says what to do about a new Node whose provider ID belongs to another cloud, so that Landfall never initialises it;
 * without full stop. `undefined` for any other Node.
 */
export function explainForeign(node: Node, presence: Presence): string | undefined {
  if (presence.kind !== "foreign" || presence.message !== undefined || !isUninitialized(node)) {
    return undefined;
  }
  const { otherMachine } = presence;
  return (
    `the Node keeps the NoSchedule taint ${UNINITIALIZED_TAINT}, because its provider ID ` +
    `${node.spec?.providerID ?? ""} belongs to another cloud; if it is a machine of this cloud, delete the Node and ` +
    "start its kubelet without --provider-id; if not, leave the Node to the controller of that cloud" +
    (otherMachine === undefined ? "" : `. ${otherMachine}`)
  );
}

/**
 * Says what to do about a Node whose machine is in this cloud, but that has neither the taint nor a provider ID, so
 * that nothing initialises it; without full stop. `undefined` for any other Node.
 */
export function explainUnmanaged(node: Node, presence: Presence): string | undefined {
  if (presence.kind !== "present" || isUninitialized(node) || node.spec?.providerID)
    return undefined;
  return (
    "the Node has no provider ID and no taint of a new Node (or a user removed it), so Landfall does not " +
    `initialise it; run: kubectl taint node ${node.metadata.name} ${UNINITIALIZED_TAINT}=true:NoSchedule; ` +
    "before that, restart its kubelet with --cloud-provider=external if it runs without it"
  );
}
