/**
 * `listVPCs`: VPCs and their tiers.
 * @module
 */
import { toScope } from "../../access/scope.ts";
import type { CloudStackState } from "../../world/state.ts";
import type { Vpc } from "../../world/vpcs.ts";
import { findNamed, isSame, matches, toList, type Call, type List } from "../call.ts";
import { toOwner } from "../owner_reply.ts";
import { createTagFilter, toTagsReply } from "../tag_reply.ts";
import { toNetworkReply } from "./networks.ts";

/** VPCs of the caller. */
export function listVpcs({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = findNamed(parameters, "id", state.vpcs);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const isTagged = createTagFilter(parameters, state);
  const vpcs = [...state.vpcs.values()].filter(
    (vpc) =>
      isOwned(vpc.accountId) &&
      (wanted === undefined || wanted === vpc) &&
      (zone === undefined || zone.id === vpc.zoneId) &&
      isSame(parameters.get("name"), vpc.name) &&
      matches(parameters, vpc.name) &&
      isTagged(vpc.id),
  );
  return toList("vpc", vpcs, (vpc) => toVpcReply(vpc, state));
}

function toVpcReply({ id, name, zoneId, accountId, cidr }: Vpc, state: CloudStackState): object {
  const tiers = [...state.networks.values()].filter(({ vpcId }) => vpcId === id);
  return {
    id,
    name,
    displaytext: name,
    state: "Enabled",
    zoneid: zoneId,
    zonename: state.zones.get(zoneId)?.name,
    cidr,
    ...toOwner(accountId, state),
    network: tiers.map((network) => toNetworkReply(network, state)),
    restartrequired: false,
    distributedvpcrouter: false,
    redundantvpcrouter: false,
    fordisplay: true,
    tags: toTagsReply(state, id),
  };
}
