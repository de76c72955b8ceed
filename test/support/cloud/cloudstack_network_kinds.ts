/**
 * A world with every kind of network that a load balancer may meet.
 * @module
 */
import {
  toAccount,
  toDomain,
  toProject,
  toUser,
} from "../../../lib/simulator/cloudstack/access/accounts.ts";
import {
  toNetwork,
  toNic,
  toOffering,
  toPublicIp,
  toVm,
  toZone,
  type Network,
  type NetworkOptions,
  type PublicIp,
  type Vm,
  type World,
} from "../../../lib/simulator/cloudstack/world/records.ts";
import {
  DEFAULT_ALLOW,
  DEFAULT_DENY,
  toAclItem,
  type AclList,
  type Vpc,
} from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toAclList, toVpc } from "./cloudstack_rules.ts";

/** The kinds of networks. */
export type NetworkKind =
  /** Isolated, with firewall and stickiness. */
  | "isolated"
  /** Isolated, with a firewall, and a load balancer that knows no stickiness. */
  | "simple"
  /** Isolated, with a load balancer and nothing that keeps sources out. */
  | "open"
  /** A tier of a VPC with a list of its own, whose items let in 22 and refuse the rest. */
  | "tier"
  /** A tier of that VPC with the list that lets everything through. */
  | "tierAllow"
  /** A tier of that VPC with the list that lets nothing through. */
  | "tierDeny"
  /** Shared with every account, without a load balancer. */
  | "shared";

/** What {@linkcode createNetworkKinds} takes. */
interface NetworkKindsOptions {
  /** Whether everything belongs to a project of the account. @default {false} */
  readonly isInProject?: boolean;
  /** Free public addresses. @default {20} */
  readonly freeIps?: number;
  /** Virtual machines in each network. @default {2} */
  readonly vms?: number;
}

/** The world, and the IDs of what is in it. */
interface NetworkKinds {
  readonly world: World;
  readonly networks: Readonly<Record<NetworkKind, Network>>;
  readonly vpc: Vpc;
  /** The list of the kind `tier`. */
  readonly aclList: AclList;
  /** Virtual machines by kind of network: `isolated-1`, `isolated-2`. */
  readonly vms: Readonly<Record<NetworkKind, readonly Vm[]>>;
  /** The owner of everything: an account, or the account of a project. */
  readonly ownerId: string;
  readonly projectId: string;
}

/** The world. The user `kubeadmin` of the account `acme` comes first, then `ops` of another account, and `admin`. */
export function createNetworkKinds(options: NetworkKindsOptions = {}): NetworkKinds {
  const { isInProject = false, freeIps = 20, vms: vmCount = 2 } = options;
  const domain = toDomain("ROOT");
  const acme = toAccount({ name: "acme", domain });
  const ops = toAccount({ name: "ops", domain });
  const root = toAccount({ name: "admin", domain, type: "admin" });
  const { project, account: projectAccount } = toProject("platform", domain, [acme]);
  const owner = isInProject ? projectAccount : acme;
  const zone = toZone("paris");
  const offering = toOffering("Small Instance", 2, 4_096);
  const vpc = toVpc("k8s-vpc", zone.id, owner.id);
  const aclList = toAclList("k8s-acl", vpc);
  const networks = toNetworks(zone.id, owner.id, vpc, aclList);
  const vms = mapKinds(networks, (network, kind) =>
    Array.from({ length: vmCount }, (_, index): Vm => {
      const name = `${kind.toLowerCase()}-${index + 1}`;
      const nics = [toNic({ vmName: name, network, ipAddress: `${network.prefix}${index + 11}` })];
      const place = { accountId: owner.id, zoneId: zone.id, offeringId: offering.id };
      return toVm({ name, ...place, nics });
    }),
  );
  const world: World = {
    domains: [domain],
    accounts: [acme, ops, root, projectAccount],
    projects: [project],
    users: [
      toUser({ username: "kubeadmin", account: acme }),
      toUser({ username: "ops", account: ops }),
      toUser({ username: "admin", account: root }),
    ],
    zones: [zone],
    offerings: [offering],
    networks: Object.values(networks),
    vpcs: [vpc],
    aclLists: [aclList],
    aclItems: [
      toAclItem({ list: aclList, number: 1, startPort: 22, cidrs: ["10.0.0.0/8"] }),
      toAclItem({ list: aclList, number: 100, protocol: "all", action: "Deny" }),
    ],
    vms: Object.values(vms).flat(),
    publicIps: [
      ...toSourceNat(networks, vpc, owner.id),
      ...Array.from({ length: freeIps }, (_, index) =>
        toPublicIp(`198.51.100.${index + 10}`, zone.id),
      ),
    ],
  };
  return { world, networks, vpc, aclList, vms, ownerId: owner.id, projectId: project.id };
}

function toNetworks(
  zoneId: string,
  accountId: string,
  vpc: Vpc,
  aclList: AclList,
): Record<NetworkKind, Network> {
  const network = (name: string, options: Partial<NetworkOptions> = {}): Network =>
    toNetwork({ name, zoneId, accountId, ...options });
  return {
    isolated: network("k8s-isolated", { prefix: "10.1.1." }),
    simple: network("k8s-simple", { prefix: "10.1.2.", stickiness: [] }),
    open: network("k8s-open", { prefix: "10.1.3.", services: ["Lb", "SourceNat", "Dhcp"] }),
    tier: network("k8s-tier", { prefix: "10.2.1.", vpc, aclList }),
    tierAllow: network("k8s-allow", { prefix: "10.2.2.", vpc, aclList: DEFAULT_ALLOW }),
    tierDeny: network("k8s-deny", { prefix: "10.2.3.", vpc, aclList: DEFAULT_DENY }),
    shared: toNetwork({ name: "shared", zoneId, prefix: "172.16.1." }),
  };
}

/** Each router has an address of its own; the tiers of a VPC have one together. */
function toSourceNat(
  { isolated, simple, open }: Readonly<Record<NetworkKind, Network>>,
  vpc: Vpc,
  ownerId: string,
): PublicIp[] {
  const ip = (last: number): PublicIp => ({
    ...toPublicIp(`198.51.100.${last}`, vpc.zoneId, ownerId),
    isSourceNat: true,
  });
  return [
    ...[isolated, simple, open].map(({ id }, index) => ({ ...ip(index + 1), networkId: id })),
    { ...ip(4), vpcId: vpc.id },
  ];
}

function mapKinds<T>(
  { isolated, simple, open, tier, tierAllow, tierDeny, shared }: Record<NetworkKind, Network>,
  map: (network: Network, kind: NetworkKind) => T,
): Record<NetworkKind, T> {
  return {
    isolated: map(isolated, "isolated"),
    simple: map(simple, "simple"),
    open: map(open, "open"),
    tier: map(tier, "tier"),
    tierAllow: map(tierAllow, "tierAllow"),
    tierDeny: map(tierDeny, "tierDeny"),
    shared: map(shared, "shared"),
  };
}
