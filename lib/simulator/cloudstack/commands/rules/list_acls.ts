/**
 * Which lists of network ACL items, and which items, a caller sees.
 * @module
 */
import { toScope } from "../../access/scope.ts";
import type { AclItem, AclList } from "../../world/vpcs.ts";
import { findNamed, isSame, matches, toList, type Call, type List } from "../call.ts";
import { checkOwner } from "../owned.ts";
import { createTagFilter } from "../tag_reply.ts";
import { toAclItemReply, toAclListReply } from "./acl_reply.ts";

/** `listNetworkACLLists`: those of the caller's VPCs and those of every account, the newest first. */
export function listAclLists(call: Call): List {
  const { parameters, state } = call;
  const wanted = findNamed(parameters, "id", state.aclLists);
  const network = findNamed(parameters, "networkid", state.networks);
  const vpc = findNamed(parameters, "vpcid", state.vpcs);
  if (vpc !== undefined) checkOwner(call, vpc.accountId, vpc.id);
  const isSeen = createSight(call);
  const lists = [...state.aclLists.values()].filter(
    (list) =>
      (vpc === undefined ? isSeen(list) : isOf(list, vpc.id)) &&
      (wanted === undefined || wanted === list) &&
      (network === undefined || network.aclId === list.id) &&
      isSame(parameters.get("name"), list.name) &&
      matches(parameters, list.name, list.description),
  );
  return toList("networkacllist", lists.toReversed(), toAclListReply);
}

/**
 * `listNetworkACLs`: the items, the newest first. Those of a list that is named show to all who may use its VPC, that
 * of a project, too; without one, `listall` and `projectid` decide.
 */
export function listAclItems(call: Call): List {
  const { parameters, state } = call;
  const wanted = findNamed(parameters, "id", state.aclItems);
  const network = findNamed(parameters, "networkid", state.networks);
  const named = findNamed(parameters, "aclid", state.aclLists);
  // The network's list counts, if both are named.
  const list = network === undefined ? named : state.aclLists.get(network.aclId ?? "");
  if (network !== undefined && list === undefined) return toList("networkacl", [], Object);
  if (list !== undefined) checkList(call, list);
  const isSeen = createSight(call);
  const isTagged = createTagFilter(parameters, state);
  const isListed = (item: AclItem): boolean => {
    if (list !== undefined) return item.listId === list.id;
    const its = state.aclLists.get(item.listId);
    return its !== undefined && isSeen(its);
  };
  const items = [...state.aclItems.values()].filter(
    (item) =>
      isListed(item) &&
      (wanted === undefined || wanted === item) &&
      isSame(parameters.get("traffictype"), item.trafficType) &&
      isSame(parameters.get("protocol"), item.protocol) &&
      isSame(parameters.get("action"), item.action) &&
      isTagged(item.id),
  );
  return toList("networkacl", items.toReversed(), (item) => toAclItemReply(item, state));
}

/** Refuses a list of another account's VPC. @throws {ApiError} 531 */
export function checkList(call: Call, { id, vpcId }: AclList): void {
  if (vpcId === undefined) return;
  checkOwner(call, call.state.vpcs.get(vpcId)?.accountId ?? "", id);
}

function createSight({ caller, parameters, state }: Call): (list: AclList) => boolean {
  const isOwned = toScope(caller.account, parameters, state);
  return ({ vpcId }) => vpcId === undefined || isOwned(state.vpcs.get(vpcId)?.accountId ?? "");
}

function isOf({ vpcId = "" }: AclList, wantedId: string): boolean {
  return vpcId === "" || vpcId === wantedId;
}
