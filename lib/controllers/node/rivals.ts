/**
 * Two Nodes that claim one machine.
 * @module
 */
import type { Instance, Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/resource.ts";

/**
 * Finds another Node that has the same provider ID, or, for a Node without one, reports the same system UUID: then it
 * is not known which of the two the machine is. Machines that were cloned below the cloud, and Nodes that were renamed,
 * end like this.
 *
 * @returns The other Node's name
 */
export function findRival(
  node: Node,
  instance: Instance,
  nodes: Iterable<Node>,
): string | undefined {
  const ownProviderId = node.spec?.providerID ?? "";
  const providerId = ownProviderId || instance.providerId;
  // A provider ID says which machine it is, whatever system UUID that machine reports.
  const systemUuid = ownProviderId === "" ? toSystemUuid(node) : "";
  for (const other of nodes) {
    if (other.metadata.name === node.metadata.name) continue;
    if (other.spec?.providerID === providerId) return other.metadata.name;
    if (systemUuid !== "" && toSystemUuid(other) === systemUuid) return other.metadata.name;
  }
  return undefined;
}

/** What is said of a Node with a rival. */
export function toRivalPresence(instance: Instance, rival: string): Presence {
  const message =
    `Instance "${instance.name}" (${instance.providerId}) is claimed by Node "${rival}" too: ` +
    "delete the Node that is not it any more, or give the machines system UUIDs of their own";
  return { kind: "unknown", reason: "ambiguous", message };
}

function toSystemUuid(node: Node): string {
  return (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase();
}
