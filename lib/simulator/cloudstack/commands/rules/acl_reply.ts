/**
 * Lists of network ACL items, and the items, as the API shows them.
 * @module
 */
import type { CloudStackState } from "../../world/state.ts";
import type { AclItem, AclList } from "../../world/vpcs.ts";
import { toTagsReply } from "../tag_reply.ts";

/** A list. */
export function toAclListReply({ id, name, description, vpcId }: AclList): object {
  return { id, name, description, ...(vpcId !== undefined && { vpcid: vpcId }), fordisplay: true };
}

/** An item. Its ports are text, its number is one. */
export function toAclItemReply(item: AclItem, state: CloudStackState): object {
  const { id, protocol, startPort, endPort, icmpType, icmpCode, cidrs, listId, reason } = item;
  return {
    id,
    protocol,
    ...(startPort !== undefined && { startport: String(startPort) }),
    ...(endPort !== undefined && { endport: String(endPort) }),
    traffictype: item.trafficType,
    state: item.state === "Revoke" ? "Deleting" : item.state,
    cidrlist: cidrs.join(","),
    ...(icmpType !== undefined && { icmptype: icmpType }),
    ...(icmpCode !== undefined && { icmpcode: icmpCode }),
    tags: toTagsReply(state, id),
    aclid: listId,
    aclname: state.aclLists.get(listId)?.name,
    number: item.number,
    action: item.action,
    fordisplay: true,
    ...(reason !== undefined && { reason }),
  };
}
