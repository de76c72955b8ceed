/**
 * Decides which Nodes may get traffic of load balancers. Pure.
 * @module
 */
import type { LoadBalancerBackend } from "../../../cloud/capabilities/load_balancers.ts";
import type { Presence } from "../../../cloud/provider.ts";
import { parseBool } from "../../../core/text/values.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import { EXCLUDED_NODE, TO_BE_DELETED_TAINT } from "../words.ts";

/**
 * Whether a Node may get traffic: it is not excluded and not about to be removed. Whether it is Ready does not matter:
 * health checks decide that.
 */
export function isBackendNode(node: Node): boolean {
  const isLeaving = node.spec?.taints?.some(({ key }) => key === TO_BE_DELETED_TAINT) ?? false;
  return node.metadata.deletionTimestamp === undefined && !isExcluded(node) && !isLeaving;
}

/** Whether the label excludes a Node: every value but a boolean that is false, also an empty one. */
export function isExcluded({ metadata }: Node): boolean {
  const label = metadata.labels?.[EXCLUDED_NODE];
  return label !== undefined && parseBool(label) !== false;
}

/**
 * Whether a change of a Node may change load balancers: a new or deleted Node, another exclusion, provider ID or
 * InternalIP. Readiness, taints and other labels do not count.
 */
export function changesBackends(before: Node | undefined, after: Node | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after;
  return toInputs(before) !== toInputs(after);
}

/** What a backend needs to know about instances. */
interface InstanceLookup {
  /** Reads an instance ID from a provider ID; `undefined` if it is not one of this cloud. */
  readonly toInstanceId: ((providerId: string) => string | undefined) | undefined;
  readonly findPresence: (node: Node) => Presence;
}

/** Lists the backends, by the name of the Node. A Node of another cloud is none. */
export function toBackends(
  nodes: Iterable<Node>,
  { toInstanceId, findPresence }: InstanceLookup,
): readonly LoadBalancerBackend[] {
  const backends: LoadBalancerBackend[] = [];
  for (const node of nodes) {
    if (!isBackendNode(node)) continue;
    const presence = findPresence(node);
    if (presence.kind === "foreign") continue;
    const { providerID } = node.spec ?? {};
    const found = presence.kind === "present" ? presence.instance.id : undefined;
    const instanceId = (providerID ? toInstanceId?.(providerID) : undefined) ?? found;
    backends.push({
      nodeName: node.metadata.name,
      ...(instanceId !== undefined && { instanceId }),
      internalIps: listInternalIps(node),
    });
  }
  return backends.sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
}

/** A text, because each report of a kubelet makes it twice. No part holds a space. */
function toInputs(node: Node): string {
  return [isExcluded(node), node.spec?.providerID ?? "", ...listInternalIps(node)].join(" ");
}

/** The InternalIPs of a Node, in its order. */
export function listInternalIps({ status }: Node): readonly string[] {
  return (status?.addresses ?? [])
    .filter(({ type }) => type === "InternalIP")
    .map(({ address }) => address);
}

/** Lists the IDs of the instances of Nodes that must get no traffic, by their provider IDs. */
export function listExcluded(
  nodes: Iterable<Node>,
  toInstanceId: InstanceLookup["toInstanceId"],
): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const node of nodes) {
    const { providerID } = node.spec ?? {};
    const id = providerID && !isBackendNode(node) ? toInstanceId?.(providerID) : undefined;
    if (id !== undefined) ids.add(id);
  }
  return ids;
}
