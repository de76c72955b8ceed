/**
 * Changes of the items of network ACL lists.
 * @module
 */
import { assert } from "../../../../core/errors.ts";
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import type { ChangeOf } from "../steps.ts";
import { type Acting, compare, send, sendRemoval, toSorted } from "./acting.ts";

/** The result of a job that made or changed an item. */
const ITEM = { key: "networkacl", schema: LB_SCHEMAS.aclItem } as const;

/** Lets clients reach one port of a tier. */
export async function createAclItem(
  change: ChangeOf<"createAclItem">,
  acting: Acting,
): Promise<void> {
  const { listId, networkId, protocol, port, cidrs, reason, number } = change;
  const params = {
    aclid: listId,
    networkid: networkId,
    protocol,
    startport: String(port),
    endport: String(port),
    cidrlist: toCidrList(cidrs),
    traffictype: "Ingress",
    action: "Allow",
    reason,
    ...(number !== undefined && { number: String(number) }),
  };
  const made = await send(acting, { command: "createNetworkACL", params, ...ITEM });
  acting.store.putAclItem(made);
  compare(acting, made, {
    listId,
    protocol,
    startPort: port,
    endPort: port,
    cidrs: toSorted(cidrs),
    isIngress: true,
    isAllow: true,
    reason,
  });
}

/** Changes the clients of an item, its reason, or both. */
export async function updateAclItem(
  { itemId, cidrs, reason }: ChangeOf<"updateAclItem">,
  acting: Acting,
): Promise<void> {
  const params = {
    id: itemId,
    partialupgrade: "true",
    ...(cidrs && { cidrlist: toCidrList(cidrs) }),
    ...(reason !== undefined && { reason }),
  };
  const changed = await send(acting, { command: "updateNetworkACLItem", params, ...ITEM });
  acting.store.putAclItem(changed);
  compare(acting, changed, {
    ...(cidrs && { cidrs: toSorted(cidrs) }),
    ...(reason !== undefined && { reason }),
  });
}

/** Deletes an item. */
export async function deleteAclItem(
  { itemId, listId }: ChangeOf<"deleteAclItem">,
  acting: Acting,
): Promise<void> {
  await sendRemoval(acting, "deleteNetworkACL", itemId);
  acting.store.dropAclItem(listId, itemId);
}

/** CloudStack takes an empty list for everyone. */
function toCidrList(cidrs: readonly string[]): string {
  assert(cidrs.length > 0, "an ACL item names at least one block");
  return cidrs.join(",");
}
