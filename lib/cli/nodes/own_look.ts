/**
 * Reads the Nodes from the API server and their machines from the cloud, as a process would see them after its start.
 * @module
 */
import { isSelected } from "../../cloud/inventory/resolver.ts";
import { NODE_SELECTION } from "../../cloud/settings/sections.ts";
import type { Provider } from "../../cloud/provider.ts";
import { findSettings } from "../../cloud/settings/schema.ts";
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import type { LabelSelector } from "../../core/text/label.ts";
import type { NodeView } from "../../http/views.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { type OtherAddresses, readOtherAddresses, toAddressUses } from "../check/address_uses.ts";
import { matchNodes } from "../check/nodes.ts";
import { listObjects } from "../listing.ts";
import { type Sources, withCloudAndCluster } from "../cloud_and_cluster.ts";

/**
 * Reads and matches the Nodes, sorted by name.
 *
 * @param name The only Node whose machine is looked for; the others are left undescribed. @default {all}
 * @throws as {@linkcode withCloudAndCluster}
 */
export async function lookAtNodes(
  sources: Sources & { readonly name: string | undefined },
  signal: AbortSignal,
): Promise<NodeView[]> {
  const { name } = sources;
  return await withCloudAndCluster(sources, signal, async ({ provider, client, values }) => {
    const items = await listObjects(client, NODES, signal);
    const only = items.filter(({ metadata }) => metadata.name === name);
    // The names of the others help to find a misspelt one.
    const wanted = only.length === 0 ? items : only;
    const { selector } = findSettings(NODE_SELECTION, values) ?? NODE_SELECTION.standard;
    const others = await readOtherAddresses(client, values, signal);
    return await describe(wanted, { provider, selector, others }, signal);
  });
}

interface WantedLook {
  readonly provider: Provider;
  readonly selector: LabelSelector;
  readonly others: OtherAddresses;
}

async function describe(
  nodes: readonly Node[],
  { provider, selector, others }: WantedLook,
  signal: AbortSignal,
): Promise<NodeView[]> {
  const interest = nodes.map(toIdentity).filter((node) => isSelected(node, selector));
  const inventory = await provider.listInventory(interest, signal);
  const matched = await matchNodes(nodes, { provider, inventory, selector }, signal);
  const uses = toAddressUses(matched, others);
  return matched.map(({ node, presence }) => ({
    ...describeNode(node, presence, provider, uses),
    lastReconcile: null,
    ready: readyStatus(node),
  }));
}
