/**
 * Networks with load balancers, and what people have in them before a story begins.
 * @module
 */
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  toLoadBalancerRule,
  toPortForwarding,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";
import {
  type Network,
  type PublicIp,
  toNetwork,
  toPublicIp,
  type World,
  type Zone,
} from "../../../../lib/simulator/cloudstack/world/records.ts";
import { toAclItem, toAclList, toVpc } from "../../../../lib/simulator/cloudstack/world/vpcs.ts";

/** What keeps clients out of the networks of the Nodes: a firewall, an ACL list, or nothing. */
export type SiteKind = "isolated" | "tier" | "open";

/** The networks of the Nodes with everything that is in them, and the public addresses. */
type Sites = Required<
  Pick<
    World,
    | "networks"
    | "vpcs"
    | "aclLists"
    | "aclItems"
    | "publicIps"
    | "firewallRules"
    | "loadBalancerRules"
  >
>;

/** Free addresses of a zone. */
const FREE_IPS = 6;
/** What people have on their address. */
const SHOP_PORT = 8443;
const FORWARDED_PORT = 5432;

/** One network for each zone. @param ownerId The account that they belong to */
export function createSites(kind: SiteKind, zones: readonly Zone[], ownerId: string): Sites {
  const all = zones.map((zone, at) => createSite(kind, zone, { ownerId, number: at + 1 }));
  return {
    networks: all.flatMap(({ networks }) => networks),
    vpcs: all.flatMap(({ vpcs }) => vpcs),
    aclLists: all.flatMap(({ aclLists }) => aclLists),
    aclItems: all.flatMap(({ aclItems }) => aclItems),
    publicIps: all.flatMap(({ publicIps }) => publicIps),
    firewallRules: all.flatMap(({ firewallRules }) => firewallRules),
    loadBalancerRules: all.flatMap(({ loadBalancerRules }) => loadBalancerRules),
  };
}

/** Whether an address is one of those that were free at first. */
export function isFreeAtFirst({ address }: Pick<PublicIp, "address">): boolean {
  return address.startsWith("198.51.");
}

function createSite(
  kind: SiteKind,
  { id: zoneId }: Zone,
  { ownerId, number }: { readonly ownerId: string; readonly number: number },
): Sites {
  const common = { name: "k8s", zoneId, accountId: ownerId };
  const vpc = toVpc("k8s", zoneId, ownerId);
  const list = toAclList("k8s", vpc);
  const network =
    kind === "tier"
      ? toNetwork({ ...common, vpc, aclList: list })
      : toNetwork({
          ...common,
          ...(kind === "open" && { services: ["Lb", "SourceNat", "StaticNat", "Dhcp"] }),
        });
  const toOwned = (last: number): PublicIp => toPlaced(`203.0.${number}.${last}`, ownerId, network);
  const used = { ...toOwned(20), networkId: network.id };
  return {
    networks: [network],
    vpcs: kind === "tier" ? [vpc] : [],
    aclLists: kind === "tier" ? [list] : [],
    aclItems:
      kind === "tier"
        ? [
            toAclItem({ list, number: 1, startPort: 22, cidrs: ["10.0.0.0/8"] }),
            toAclItem({ list, number: 100, protocol: "all", action: "Deny" }),
          ]
        : [],
    publicIps: [
      { ...toOwned(1), isSourceNat: true },
      used,
      toOwned(21),
      toOwned(22),
      ...Array.from({ length: FREE_IPS }, (_, at) =>
        toPublicIp(`198.51.${number}.${at + 10}`, zoneId),
      ),
    ],
    firewallRules:
      kind === "isolated" ? [toFirewallRule({ ip: used, startPort: 8_000, endPort: 8_999 })] : [],
    loadBalancerRules: [toLoadBalancerRule({ ip: used, name: "shop", publicPort: SHOP_PORT })],
  };
}

/** People forward a port of their address to a machine of theirs. In a VPC, addresses balance load or forward ports. */
export function forwardPorts({ publicIps, vms, portForwardings }: CloudStackState): void {
  for (const ip of publicIps.values()) {
    const vm = [...vms.values()].find(({ zoneId }) => zoneId === ip.zoneId);
    if (!ip.address.endsWith(".20") || ip.vpcId !== undefined || vm === undefined) continue;
    const forwarding = toPortForwarding({ ip, vmId: vm.id, publicPort: FORWARDED_PORT });
    portForwardings.set(forwarding.id, forwarding);
  }
}

/** An address in a network, or in the VPC of a tier. */
function toPlaced(address: string, ownerId: string, network: Network): PublicIp {
  const { id, zoneId, vpcId } = network;
  const ip = toPublicIp(address, zoneId, ownerId);
  return vpcId === undefined ? { ...ip, networkId: id } : { ...ip, vpcId };
}
