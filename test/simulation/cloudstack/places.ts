/**
 * Who owns what in stories of CloudStack, and where it is: the networks with load balancers, too, and what people have
 * in them before a story begins.
 * @module
 */
import {
  type AccountType,
  toAccount,
  toDomain,
  toProject,
  toUser,
} from "../../../lib/simulator/cloudstack/access/accounts.ts";
import type { Vm } from "../../../lib/simulator/cloudstack/mod.ts";
import {
  toNetwork,
  toNic,
  toOffering,
  toZone,
  type Network,
  type PublicIp,
  toPublicIp,
  type World,
  type Zone,
} from "../../../lib/simulator/cloudstack/world/records.ts";
import type { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";
import { toFirewallRule } from "../../../lib/simulator/cloudstack/world/firewall.ts";
import { toAclItem } from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import {
  toAclList,
  toLoadBalancerRule,
  toPortForwarding,
  toVpc,
} from "../../support/cloud/cloudstack_rules.ts";

/** What a story draws of them. */
export interface PlaceOptions {
  /** How many zones there are. */
  readonly zones: number;
  /** What the user may see. */
  readonly type: AccountType;
  /** Whether a plain user sees what is destroyed. */
  readonly seesDestroyed: boolean;
  /** Whether the machines are in a project. */
  readonly hasProject: boolean;
  /** Whether an administrator asks, who owns nothing. */
  readonly hasManager?: boolean;
  readonly secret: string;
  /** What the networks of the Nodes balance load by; absent: they do not. */
  readonly site?: SiteKind;
}

/** Accounts, and a world without machines. */
export interface Places extends Pick<PlaceOptions, "type" | "seesDestroyed" | "hasProject"> {
  readonly world: World;
  /** The same users, and nothing else. */
  readonly emptyWorld: World;
  /** The user's own account. */
  readonly accountId: string;
  /** The account that owns what is in the project. */
  readonly projectAccountId: string;
  /** An account of others. */
  readonly strangerId: string;
  /** The account that owns the machines of Nodes. */
  readonly ownerId: string;
  /** The project that the settings name; absent: none. */
  readonly project?: { readonly id: string; readonly name: string };
  /** Makes the user a member of the project again. */
  restoreProject(state: CloudStackState): void;
}

/** Creates them. */
export function createPlaces(options: PlaceOptions): Places {
  const { zones: count, seesDestroyed, hasProject, hasManager = false, secret, site } = options;
  const type = hasManager ? "admin" : options.type;
  const domain = toDomain("ROOT");
  const account = toAccount({ name: "acme", domain, type: options.type, seesDestroyed });
  const stranger = toAccount({ name: "ops", domain });
  const elsewhere = toDomain("other", "/other/");
  const outsider = toAccount({ name: "outsider", domain: elsewhere });
  const manager = toAccount({ name: "manager", domain, type: "admin" });
  const { project, account: projectAccount } = toProject("platform", domain, [account]);
  const zones = Array.from({ length: count }, (_, at) => toZone(`zone-${at + 1}`));
  const people: World = {
    domains: [domain, elsewhere],
    accounts: [account, stranger, outsider, manager, projectAccount],
    projects: [project],
    // The first one's keys are those of the settings.
    users: [...(hasManager ? [manager] : []), account, stranger, outsider].map((one, at) =>
      toUser({ username: one.name, account: one, ...toKeys(at === 0 ? secret : one.name) }),
    ),
  };
  const owner = hasProject ? projectAccount : account;
  const sites = site && createSites(site, zones, owner.id);
  const storage = zones.map(({ id: zoneId }) =>
    toNetwork({ name: "storage", zoneId, prefix: "172.16.1." }),
  );
  const open = zones.map(({ id: zoneId }) => toNetwork({ name: "k8s", zoneId }));
  return {
    type,
    seesDestroyed,
    hasProject,
    world: {
      ...people,
      zones,
      offerings: [toOffering("Small", 2, 4_096), toOffering("Large 8", 8, 16_384)],
      ...sites,
      networks: [...(sites?.networks ?? open), ...storage],
    },
    emptyWorld: people,
    accountId: account.id,
    projectAccountId: projectAccount.id,
    strangerId: stranger.id,
    ownerId: owner.id,
    ...(hasProject && { project }),
    restoreProject(state) {
      const found = state.projects.get(project.id);
      if (found) Object.assign(found, { memberIds: [account.id], state: "Active" });
    },
  };
}

/** Both keys of a user, made of one secret. */
export function toKeys(secret: string): { readonly apiKey: string; readonly secretKey: string } {
  return { apiKey: `api-${secret}`, secretKey: `secret-${secret}` };
}

/** Gives a machine an interface in a network of its zone. */
export function addNic(
  { networks }: CloudStackState,
  vm: Vm,
  nic: { readonly ipAddress: string; readonly isDefault: boolean },
): void {
  const name = nic.isDefault ? "k8s" : "storage";
  const network = [...networks.values()].find(
    (one) => one.zoneId === vm.zoneId && one.name === name,
  );
  if (network === undefined) throw new RangeError(`Zone ${vm.zoneId} has no network ${name}`);
  vm.nics.push(toNic({ vmName: `${vm.id}/${vm.nics.length}`, network, ...nic }));
}

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
function createSites(kind: SiteKind, zones: readonly Zone[], ownerId: string): Sites {
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
