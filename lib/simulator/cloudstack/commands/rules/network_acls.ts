/**
 * The commands about network ACL items. Their jobs wait for no others, not even for those of the same list.
 * @module
 */
import { ApiError, toHidden, toInvalid } from "../../replies.ts";
import type { CloudStackState } from "../../world/state.ts";
import { isDefault, type AclItem, type AclList } from "../../world/vpcs.ts";
import { findNamed, needNamed, needText, readNumber } from "../call.ts";
import type { Call, Command, WantedJob } from "../call.ts";
import { failJob } from "../owned.ts";
import { toAclItemReply } from "./acl_reply.ts";
import { readAction, readChanges, readFields, readTrafficType } from "./acl_fields.ts";
import { checkList, listAclItems, listAclLists } from "./list_acls.ts";

/** The commands. */
export const ACL_COMMANDS: Readonly<Record<string, Command>> = {
  listNetworkACLLists: { kind: "list", run: listAclLists },
  listNetworkACLs: { kind: "list", run: listAclItems },
  createNetworkACL: { kind: "create", run: createAclItem },
  updateNetworkACLItem: { kind: "job", run: updateAclItem },
  deleteNetworkACL: { kind: "job", run: deleteAclItem },
};

const INSTANCE_TYPE = "NetworkAclItem";

/** Without a number, the item comes last: after a deny of everything, too. */
function createAclItem(call: Call): WantedJob {
  const { parameters, state } = call;
  needText(parameters, "protocol");
  const list = findList(call);
  checkChange(call, list);
  const number = readNumber(parameters, "number");
  if (number !== undefined) checkNumber(number, list, state);
  const item: AclItem = {
    ...readFields(parameters),
    action: readAction(parameters) ?? "Allow",
    trafficType: readTrafficType(parameters) ?? "Ingress",
    reason: parameters.get("reason"),
    id: state.nextId("acl-item"),
    listId: list.id,
    number: number ?? Math.max(0, ...itemsOf(list, state).map((one) => one.number)) + 1,
    state: "Add",
  };
  state.aclItems.set(item.id, item);
  return {
    instanceType: INSTANCE_TYPE,
    instanceId: item.id,
    run: () => {
      if (!state.aclItems.has(item.id)) {
        throw new ApiError(530, "Failed to create network ACL Item");
      }
      applyList(list, state);
      return { networkacl: toAclItemReply(item, state) };
    },
    undo: () => state.removeAclItem(item.id),
  };
}

/** Everything is judged when the job runs. Fields that are not named stay, unless `partialupgrade` is `false`. */
function updateAclItem(call: Call): WantedJob {
  const { parameters, state } = call;
  const item = needNamed(parameters, "id", state.aclItems);
  const isPartial = parameters.get("partialupgrade")?.toLowerCase() !== "false";
  return toItemJob(call, item, (list) => {
    const number = readNumber(parameters, "number");
    const taken = itemsOf(list, state).find((one) => one.number === number);
    if (taken !== undefined && taken !== item) throw toTaken(number, list);
    const changes = readChanges(parameters, item, isPartial);
    return () => {
      Object.assign(item, changes, { number: number ?? item.number, state: "Add" });
      // As the server answers: not yet as the router has it.
      return { networkacl: toAclItemReply(item, state) };
    };
  });
}

function deleteAclItem(call: Call): WantedJob {
  const item = needNamed(call.parameters, "id", call.state.aclItems);
  return toItemJob(call, item, () => () => {
    item.state = "Revoke";
    return { success: true };
  });
}

/** A job that checks, changes, and sends the whole list to the routers. */
function toItemJob(call: Call, item: AclItem, check: (list: AclList) => () => object): WantedJob {
  const { state } = call;
  let result: object = {};
  return {
    instanceType: INSTANCE_TYPE,
    instanceId: item.id,
    begin: () => {
      const list = state.aclLists.get(item.listId);
      if (list === undefined || !state.aclItems.has(item.id)) throw toHidden();
      failJob(() => checkChange(call, list));
      result = check(list)();
    },
    run: () => {
      const list = state.aclLists.get(item.listId);
      if (list !== undefined) applyList(list, state);
      return result;
    },
  };
}

/** What a router gets is always the whole list, so that a job ends what others have begun. */
function applyList(list: AclList, state: CloudStackState): void {
  for (const item of itemsOf(list, state)) {
    if (item.state === "Revoke") state.removeAclItem(item.id);
    else item.state = "Active";
  }
}

function itemsOf({ id }: AclList, { aclItems }: CloudStackState): AclItem[] {
  return [...aclItems.values()].filter((item) => item.listId === id);
}

/** The list that is named, or the one of the network; the network does not matter beside a list. */
function findList({ parameters, state }: Call): AclList {
  const network = findNamed(parameters, "networkid", state.networks);
  const named = findNamed(parameters, "aclid", state.aclLists);
  if (named !== undefined) return named;
  if (network === undefined) {
    throw toInvalid("Cannot create Network ACL Item. ACL Id or network Id is required");
  }
  const list = state.aclLists.get(network.aclId ?? "");
  if (network.vpcId !== undefined && list !== undefined) return list;
  throw toInvalid(`Network: ${network.id} does not belong to VPC`);
}

/** @throws {ApiError} 431 for a list that is always there, 531 for one that the caller may not change */
function checkChange(call: Call, list: AclList): void {
  if (isDefault(list)) throw toInvalid("Default ACL cannot be modified");
  checkList(call, list);
  if (list.vpcId === undefined && call.caller.account.type !== "admin") {
    throw new ApiError(531, "Only Root Admins can create rules for a global ACL.", 4365);
  }
}

function checkNumber(number: number, list: AclList, state: CloudStackState): void {
  if (number < 1) throw toInvalid(`Invalid number [${number}]. Number cannot be < 1`);
  if (itemsOf(list, state).some((item) => item.number === number)) throw toTaken(number, list);
}

function toTaken(number: number | undefined, { id }: AclList): ApiError {
  return toInvalid(`ACL item with number ${number} already exists in ACL: ${id}`);
}
