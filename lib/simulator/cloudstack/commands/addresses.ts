/**
 * The commands about public addresses: an account takes a free one, lists its own, and gives them back.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import { toScope } from "../access/scope.ts";
import { ApiError, toHidden, toInvalid } from "../replies.ts";
import { free, hasRules, toSerialKey, wipe } from "../world/addresses.ts";
import { toDate } from "../world/jobs.ts";
import type { PublicIp } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  checkOwner,
  type Command,
  createTagFilter,
  findNamed,
  isSame,
  type List,
  matches,
  needText,
  toList,
  toOwner,
  toTagsReply,
  type WantedJob,
} from "./call.ts";
import {
  createPortForwarding,
  deletePortForwarding,
  listPortForwardings,
} from "./port_forwardings.ts";

/** The commands. */
export const ADDRESS_COMMANDS: Readonly<Record<string, Command>> = {
  listPublicIpAddresses: { kind: "list", run: listPublicIps },
  associateIpAddress: { kind: "create", run: associate },
  disassociateIpAddress: { kind: "job", run: disassociate },
  listPortForwardingRules: { kind: "list", run: listPortForwardings },
  createPortForwardingRule: { kind: "create", run: createPortForwarding },
  deletePortForwardingRule: { kind: "job", run: deletePortForwarding },
};

/** Where an address will belong: a network, or a VPC, whose tiers it may serve. */
interface Place {
  readonly ownerId: string;
  readonly zoneId: string;
  readonly target: { readonly networkId: string } | { readonly vpcId: string };
}

/**
 * Takes an address: it is the account's at once, and leads somewhere when the job is done. If the job fails, the
 * address is free again.
 */
function associate(call: Call): WantedJob {
  const { state, settings, nowMs } = call;
  const place = findPlace(call);
  const ownerId = findNamed(call.parameters, "projectid", state.projects)?.accountId;
  const accountId = ownerId ?? place.ownerId;
  checkOwner(call, accountId, "publicIp");
  checkLimit(accountId, state, settings.publicIpsMax);
  const ip = findFree(call, place.zoneId);
  ip.accountId = accountId;
  ip.allocatedMs = nowMs;
  ip.state = "Allocating";
  ip.turn = toSerialKey({ ...ip, ...place.target });
  return {
    instanceType: "IpAddress",
    instanceId: ip.id,
    serialKey: ip.turn,
    run: () => {
      checkPlace(place, accountId, state);
      Object.assign(ip, place.target);
      // The server shows the state from before.
      const ipaddress = toIpReply(ip, state);
      ip.state = "Allocated";
      delete ip.turn;
      return { ipaddress };
    },
    undo: () => free(state, ip),
  };
}

/** Gives an address back. First, every rule on it goes, those of other people included. */
function disassociate(call: Call): WantedJob {
  const { state } = call;
  const ip = needIp(call);
  if (ip.accountId === undefined) throw toHidden();
  return {
    instanceType: "IpAddress",
    instanceId: ip.id,
    serialKey: toSerialKey(ip),
    begin: () => {
      if (ip.isSourceNat) {
        throw new ApiError(
          530,
          "IP address is used for source nat purposes and can not be disassociated.",
        );
      }
      if (ip.accountId === undefined) return;
      ip.state = "Releasing";
      wipe(state, ip);
    },
    run: () => {
      free(state, ip);
      return { success: true };
    },
  };
}

/** A VPC counts before a network. */
function findPlace({ parameters, state }: Call): Place {
  const vpc = findNamed(parameters, "vpcid", state.vpcs);
  if (vpc !== undefined) {
    return { ownerId: vpc.accountId, zoneId: vpc.zoneId, target: { vpcId: vpc.id } };
  }
  const network = findNamed(parameters, "networkid", state.networks);
  if (network !== undefined) {
    const { id, accountId, zoneId } = network;
    return { ownerId: accountId, zoneId, target: { networkId: id } };
  }
  const text = "Please specify either zoneId, or networkId, or vpcId in the call";
  throw toInvalid(`Unable to figure out zone to assign ip to. ${text}`);
}

/** What the job finds out, so that it gives the address back. */
function checkPlace({ ownerId, target }: Place, accountId: string, state: CloudStackState): void {
  const network = "networkId" in target ? state.networks.get(target.networkId) : undefined;
  if (network?.vpcId !== undefined) {
    const text = "Can't assign ip to the network directly when network belongs to VPC.";
    throw toInvalid(`${text}Specify vpcId to associate ip address to VPC`);
  }
  if (accountId === ownerId) return;
  throw toInvalid("The owner of the IP address is not the owner of the network");
}

function checkLimit(accountId: string, state: CloudStackState, max: number): void {
  const owned = [...state.publicIps.values()].filter((ip) => ip.accountId === accountId);
  if (owned.length < max) return;
  const whose = `for account: ${state.accounts.get(accountId)?.name}`;
  throw new ApiError(
    532,
    `Maximum number of public IP addresses ${whose} has been exceeded.`,
    4280,
  );
}

/** Exactly the address that is asked for, or the first one that is free. */
function findFree({ parameters, state }: Call, zoneId: string): PublicIp {
  const wanted = parameters.get("ipaddress");
  const found = [...state.publicIps.values()].find(
    (ip) =>
      ip.state === "Free" &&
      ip.zoneId === zoneId &&
      (wanted === undefined || wanted === ip.address),
  );
  if (found === undefined) throw new ApiError(533, "Insufficient address capacity");
  return found;
}

function needIp(call: Call): PublicIp {
  const { parameters, state } = call;
  const address = parameters.get("ipaddress");
  const byId = findNamed(parameters, "id", state.publicIps);
  const ip = byId ?? [...state.publicIps.values()].find((one) => one.address === address);
  if (ip === undefined) {
    needText(parameters, "id");
    throw toInvalid("Unable to find IP address by id");
  }
  if (ip.accountId !== undefined) checkOwner(call, ip.accountId, ip.address);
  return ip;
}

/** Lists addresses. */
function listPublicIps(call: Call): List {
  const { parameters, state } = call;
  const isShown = createShown(call);
  const isTagged = createTagFilter(parameters, state);
  const wanted = findNamed(parameters, "id", state.publicIps);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const network = findNamed(parameters, "associatednetworkid", state.networks);
  const vpc = findNamed(parameters, "vpcid", state.vpcs);
  const ips = [...state.publicIps.values()].filter(
    (ip) =>
      isShown(ip) &&
      isTagged(ip.id) &&
      (wanted === undefined || wanted === ip) &&
      (zone === undefined || zone.id === ip.zoneId) &&
      (network === undefined || network.id === ip.networkId) &&
      (vpc === undefined || vpc.id === ip.vpcId) &&
      isSame(parameters.get("ipaddress"), ip.address) &&
      isSame(parameters.get("issourcenat"), String(ip.isSourceNat)) &&
      isSame(parameters.get("isstaticnat"), String(ip.staticNatVmId !== undefined)) &&
      matches(parameters, ip.address),
  );
  return toList("publicipaddress", ips, (ip) => toIpReply(ip, state));
}

/** Who has an address may see it; free ones show only if they are asked for. */
function createShown({ caller, parameters, state, settings }: Call): (ip: PublicIp) => boolean {
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = parameters.get("state")?.toLowerCase();
  const onlyAllocated = parameters.get("allocatedonly")?.toLowerCase() ?? String(wanted !== "free");
  const showsFree =
    onlyAllocated === "false" && (settings.showsFreeIps || caller.account.type === "admin");
  return ({ accountId, state: actual }) =>
    (accountId === undefined ? showsFree : isOwned(accountId)) &&
    (wanted === undefined || wanted === actual.toLowerCase());
}

/** Shows an address. A free one has no date, owner or network. */
function toIpReply(ip: PublicIp, state: CloudStackState): object {
  const network = state.networks.get(ip.networkId ?? "");
  const vm = state.vms.get(ip.staticNatVmId ?? "");
  const vpc = state.vpcs.get(ip.vpcId ?? "");
  return {
    id: ip.id,
    ipaddress: ip.address,
    ...(ip.allocatedMs !== undefined && { allocated: toDate(ip.allocatedMs) }),
    zoneid: ip.zoneId,
    zonename: state.zones.get(ip.zoneId)?.name,
    issourcenat: ip.isSourceNat,
    ...toOwner(ip.accountId ?? "", state),
    forvirtualnetwork: true,
    isstaticnat: vm !== undefined,
    issystem: false,
    ...(vm && { virtualmachineid: vm.id, virtualmachinename: vm.name }),
    ...(network && { associatednetworkid: network.id, associatednetworkname: network.name }),
    networkid: toUuid(`network/public/${ip.zoneId}`),
    ...(vpc && { vpcid: vpc.id, vpcname: vpc.name }),
    state: ip.state,
    hasrules: hasRules(state, ip.id),
    tags: toTagsReply(state, ip.id),
    isportable: false,
    fordisplay: true,
  };
}
