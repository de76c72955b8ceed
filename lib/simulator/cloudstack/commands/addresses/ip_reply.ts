/**
 * A public address as the API shows it.
 * @module
 */
import { toUuid } from "../../../uuid.ts";
import { hasRules } from "../../world/addresses.ts";
import { toDate } from "../../world/jobs.ts";
import type { PublicIp } from "../../world/records.ts";
import type { CloudStackState } from "../../world/state.ts";
import { toTagsReply } from "../tag_reply.ts";
import { toOwner } from "../owner_reply.ts";

/** Shows an address. A free one has no date, owner or network. */
export function toIpReply(ip: PublicIp, state: CloudStackState): object {
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
