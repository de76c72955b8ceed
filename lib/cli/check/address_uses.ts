/**
 * Who else has addresses of Nodes, for a look without a running process.
 * @module
 */
import type { AddressPool } from "../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../cloud/pools/settings.ts";
import { findSettings, type SectionValues } from "../../cloud/settings/schema.ts";
import type { Presence } from "../../cloud/provider.ts";
import { AddressIndex } from "../../controllers/address_index.ts";
import type { AddressUses } from "../../controllers/addresses.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { toKey } from "../../kube/cache/store.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type Service, SERVICES } from "../../kube/kinds/service.ts";
import { trimObject } from "../../kube/kinds/resource.ts";
import { tryList } from "../listing.ts";

/** A Node and what the cloud says about its machine. */
export interface MatchedNode {
  readonly node: Node;
  readonly presence: Presence;
}

/** What has addresses besides Nodes. */
export interface OtherAddresses {
  /** Absent: they are not known. */
  readonly services?: readonly Service[];
  readonly pools: readonly AddressPool[];
}

/**
 * Reads the addresses of Services, if they can be listed.
 *
 * @throws the signal's reason
 */
export async function readOtherAddresses(
  client: KubeClient,
  sections: SectionValues | undefined,
  signal: AbortSignal,
): Promise<OtherAddresses> {
  const { pools } = findSettings(LOAD_BALANCERS, sections) ?? LOAD_BALANCERS.standard;
  const items = await tryList(client, SERVICES, signal);
  return { pools, ...(items && { services: items.map((item) => trimObject(SERVICES, item)) }) };
}

/** Who has which address, as a process finds it after its start. */
export function toAddressUses(
  matched: readonly MatchedNode[],
  { services, pools }: OtherAddresses,
): AddressUses {
  const all = new Map(matched.map((one) => [one.node.metadata.name, one]));
  const index = new AddressIndex({
    getNode: (name) => all.get(name)?.node,
    findPresence: ({ metadata }) =>
      all.get(metadata.name)?.presence ?? { kind: "foreign", message: "not listed" },
    findPools: () => pools,
    hasServices: () => services !== undefined,
  });
  for (const { node } of matched) index.noteNode(node.metadata.name, node);
  for (const service of services ?? []) index.noteService(toKey(service), service);
  return index;
}
