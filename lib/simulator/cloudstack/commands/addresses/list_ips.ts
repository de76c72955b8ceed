/**
 * `listPublicIpAddresses`: the addresses of a caller, and free ones if they are asked for.
 * @module
 */
import { toScope } from "../../access/scope.ts";
import type { PublicIp } from "../../world/records.ts";
import { findNamed, isSame, matches, toList, type Call, type List } from "../call.ts";
import { createTagFilter } from "../tag_reply.ts";
import { toIpReply } from "./ip_reply.ts";

/** Lists addresses. */
export function listPublicIps(call: Call): List {
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
