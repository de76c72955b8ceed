/**
 * The commands about network ACL lists and their items.
 * @module
 */
import { toScope } from "../access/scope.ts";
import type { Parameters } from "../parameters.ts";
import { ApiError, toHidden, toInvalid } from "../replies.ts";
import type { CloudStackState } from "../world/state.ts";
import { type AclItem, type AclList, isDefault } from "../world/vpcs.ts";
import {
  type Call,
  checkOwner,
  type Command,
  createTagFilter,
  failJob,
  findNamed,
  isSame,
  type List,
  matches,
  needNamed,
  needText,
  readNumber,
  toList,
  toTagsReply,
  type WantedJob,
} from "./call.ts";
import { checkCidrs, checkIcmp, checkRange, isPort } from "./firewall_rules.ts";

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

/** What traffic an item is about. */
type Traffic = Pick<
  AclItem,
  "protocol" | "startPort" | "endPort" | "icmpType" | "icmpCode" | "cidrs"
>;

const PROTOCOLS: readonly string[] = ["tcp", "udp", "icmp", "all"];

/** The traffic of a new item: without sources everyone's, without an end that of one port. */
function readFields(parameters: Parameters): Traffic {
  const protocol = readProtocol(parameters) ?? "";
  const startPort = readNumber(parameters, "startport");
  const given = parameters.list("cidrlist");
  const any = protocol.toLowerCase() === "icmp" ? -1 : undefined;
  const traffic = {
    protocol,
    startPort,
    endPort: readNumber(parameters, "endport") ?? startPort,
    icmpType: readNumber(parameters, "icmptype") ?? any,
    icmpCode: readNumber(parameters, "icmpcode") ?? any,
    cidrs: given.length === 0 ? ["0.0.0.0/0", "::/0"] : given,
  };
  checkTraffic(traffic);
  return traffic;
}

/**
 * What a request changes of an item.
 *
 * @param isPartial Whether what it does not name stays; otherwise that is emptied
 */
function readChanges(
  parameters: Parameters,
  item: AclItem,
  isPartial: boolean,
): Omit<AclItem, "id" | "listId" | "number" | "state"> {
  const kept = isPartial ? item : undefined;
  const cidrs = parameters.list("cidrlist");
  const changed = {
    protocol: readProtocol(parameters) ?? kept?.protocol ?? "",
    startPort: readNumber(parameters, "startport") ?? kept?.startPort,
    endPort: readNumber(parameters, "endport") ?? kept?.endPort,
    icmpType: readNumber(parameters, "icmptype") ?? kept?.icmpType,
    icmpCode: readNumber(parameters, "icmpcode") ?? kept?.icmpCode,
    cidrs: cidrs.length === 0 ? (kept?.cidrs ?? []) : cidrs,
    action: readAction(parameters) ?? kept?.action ?? "Allow",
    trafficType: readTrafficType(parameters) ?? kept?.trafficType ?? "Ingress",
    reason: parameters.get("reason") ?? kept?.reason,
  };
  checkTraffic(changed);
  return changed;
}

/** `Allow` or `Deny`, if it is named. @throws {ApiError} 431 for anything else */
function readAction(parameters: Parameters): AclItem["action"] | undefined {
  const text = parameters.get("action");
  if (text === undefined) return undefined;
  const found = (["Allow", "Deny"] as const).find((one) => isSameWord(one, text));
  if (found !== undefined) return found;
  throw toInvalid(`Invalid action [${text}]. Permitted actions are Allow and Deny`);
}

/** `Ingress` or `Egress`, if it is named. @throws {ApiError} 431 for anything else */
function readTrafficType(parameters: Parameters): AclItem["trafficType"] | undefined {
  const text = parameters.get("traffictype");
  if (text === undefined) return undefined;
  const found = (["Ingress", "Egress"] as const).find((one) => isSameWord(one, text));
  if (found !== undefined) return found;
  throw toInvalid(`Invalid traffic type ${text}`);
}

/** Number 1 is ICMP. */
function readProtocol(parameters: Parameters): string | undefined {
  const text = parameters.get("protocol")?.trim();
  return text === "1" ? "icmp" : text;
}

function checkTraffic(traffic: Traffic): void {
  const { protocol, startPort, endPort, icmpType, icmpCode, cidrs } = traffic;
  if (startPort !== undefined || endPort !== undefined) checkPorts(traffic);
  checkCidrs(cidrs, "Source cidrs formatting error");
  if (/^\d+$/.test(protocol)) {
    if (Number(protocol) > 255) throw toInvalid(`Invalid protocol number: ${protocol}`);
  } else if (protocol !== "" && !PROTOCOLS.includes(protocol.toLowerCase())) {
    const expected = PROTOCOLS.join(",");
    throw toInvalid(`Invalid protocol [${protocol}]. Expected one of: [${expected}]`);
  }
  const hasIcmp = icmpType !== undefined || icmpCode !== undefined;
  checkIcmp(protocol, hasIcmp, [startPort, endPort]);
}

function checkPorts({ protocol, startPort, endPort }: Traffic): void {
  if (startPort === undefined || !isPort(startPort)) {
    throw toInvalid(`Start public port is an invalid value: ${startPort}`);
  }
  if (endPort === undefined || !isPort(endPort)) {
    throw toInvalid(`End public port is an invalid value: ${endPort}`);
  }
  checkRange(startPort, endPort);
  if (isSameWord(protocol, "all")) {
    throw toInvalid("start port and end port must be null if protocol = 'all'");
  }
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** `listNetworkACLLists`: those of the caller's VPCs and those of every account, the newest first. */
function listAclLists(call: Call): List {
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
function listAclItems(call: Call): List {
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
function checkList(call: Call, { id, vpcId }: AclList): void {
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

/** A list. */
function toAclListReply({ id, name, description, vpcId }: AclList): object {
  return { id, name, description, ...(vpcId !== undefined && { vpcid: vpcId }), fordisplay: true };
}

/** An item. Its ports are text, its number is one. */
function toAclItemReply(item: AclItem, state: CloudStackState): object {
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
