/**
 * What CloudStack shows at one time of everything that load balancers are made of, by ID and by address.
 * @module
 */
import type {
  FindHolder,
  LoadBalancerQuestion,
} from "../../../cloud/capabilities/load_balancers.ts";
import type { Version } from "../session/facts.ts";
import type { RecordSigner } from "./record.ts";
import type { AllocatedBy } from "./allocated_by.ts";

/** A public IP address of the account or project. */
export interface PublicAddress {
  readonly id: string;
  readonly ip: string;
  /** `Allocated`, `Allocating`, `Releasing` … */
  readonly state: string;
  /** When it was taken, by the clock of CloudStack, in milliseconds since 1970. Absent: free, or not known. */
  readonly allocatedAtMs?: number;
  /** The network that it serves. Absent for an address of a VPC that no tier uses. */
  readonly networkId?: string;
  readonly vpcId?: string;
  readonly isSourceNat: boolean;
  readonly isStaticNat: boolean;
  /**
   * Whether rules of any kind are on it, also of kinds that an observation does not show. Absent: the server does not
   * say.
   */
  readonly hasRules?: boolean;
  /**
   * What a release found on it that the observation does not show: `2 port forwardings`. The next observation forgets
   * it.
   */
  readonly usedBy?: string;
  readonly tags: ReadonlyMap<string, string>;
}

/** A load-balancer rule: one port of one address. */
export interface Rule {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly addressId: string;
  readonly ip: string;
  readonly networkId: string;
  readonly publicPort: number;
  readonly privatePort: number;
  /** As CloudStack writes it: `tcp`, `udp`, `tcp-proxy`; another text is of a form that Landfall does not make. */
  readonly protocol: string;
  /** `roundrobin`, `source`, `leastconn`. */
  readonly algorithm: string;
  /** As those of {@linkcode FirewallRule}. */
  readonly cidrs?: readonly string[];
  /** `Add` without backends, `Active`, `Revoke` while it goes. */
  readonly state: string;
}

/** A firewall rule of a public address. */
export interface FirewallRule {
  readonly id: string;
  readonly addressId: string;
  /** `tcp`, `udp`, `icmp`, `all`. */
  readonly protocol: string;
  /** Absent for all ports. */
  readonly startPort?: number;
  readonly endPort?: number;
  /** Canonical and sorted; empty means everyone. Absent: an entry could not be read. */
  readonly cidrs?: readonly string[];
  readonly state: string;
}

/** An entry of a network ACL list. */
export interface AclItem {
  readonly id: string;
  readonly listId: string;
  readonly protocol: string;
  readonly startPort?: number;
  readonly endPort?: number;
  /** As those of {@linkcode FirewallRule}. */
  readonly cidrs?: readonly string[];
  readonly isIngress: boolean;
  readonly isAllow: boolean;
  /** Its place: lower numbers decide first. */
  readonly number: number;
  /** Why it is there, as its maker wrote it. */
  readonly reason?: string;
}

/** A stickiness policy of a rule. */
export interface StickinessPolicy {
  readonly id: string;
  readonly name: string;
  readonly method: string;
  readonly params: ReadonlyMap<string, string>;
  readonly description?: string;
  readonly state: string;
}

/** A method of stickiness that a network offers. */
export interface StickinessMethod {
  readonly name: string;
  /** The parameters that it takes. */
  readonly params: ReadonlyMap<string, { readonly isRequired: boolean }>;
}

/** A network in which backends are. */
export interface Network {
  readonly id: string;
  readonly name: string;
  readonly zoneId?: string;
  readonly vpcId?: string;
  /** The list of network ACLs of a VPC tier. */
  readonly aclListId?: string;
  /** `default_allow` and `default_deny` cannot be changed. Absent: not known. */
  readonly aclListName?: string;
  readonly hasLoadBalancers: boolean;
  readonly hasFirewall: boolean;
  readonly hasNetworkAcl: boolean;
  /** Whether it answers DNS on its source NAT address. */
  readonly hasDns: boolean;
  /** Lower case. Absent: the network does not say. */
  readonly algorithms?: ReadonlySet<string>;
  readonly protocols?: ReadonlySet<string>;
  readonly stickiness?: readonly StickinessMethod[];
}

/** A VM, as far as load balancers need to know it. */
export interface BackendVm {
  readonly id: string;
  /** Whether it is destroyed or expunged: it can be no backend. */
  readonly isGone: boolean;
  /** The default one first. */
  readonly nics: readonly { readonly networkId: string; readonly ips: readonly string[] }[];
}

/**
 * An object that CloudStack shows in a form that cannot be read. It is there, so what it may be is not absent. Without
 * a field, that part of it may be anything.
 */
export interface Unreadable {
  readonly kind: "address" | "rule" | "firewallRule" | "aclItem" | "network";
  readonly id?: string;
  /** The IP of an address, the name of a rule or network, or the reason of an ACL item. */
  readonly name?: string;
  /** Of the address that a rule or firewall rule belongs to. */
  readonly addressId?: string;
  /** What is wrong with it; no full stop, no secret. */
  readonly problem: string;
}

/** One observation. Changes that this process made since are in it. */
export interface Observation {
  /**
   * When the observation began, in monotonic milliseconds. Networks without tiers among them may be an hour older, and
   * VMs as old as the inventory.
   */
  readonly takenAtMs: number;
  /** The same by the wall clock, in milliseconds since 1970. */
  readonly takenAtWallMs: number;
  /**
   * Whether this is proven to be the CloudStack of the cluster, seen by the same user: it shows a load balancer of the
   * cluster, or the VM of a Node. If not, nothing is proven to be absent.
   */
  readonly isOurCloud: boolean;
  /** Whether no Node is known that could prove it. @default {false} */
  readonly hasNoNodes?: true;
  /** Absent: the server says none that can be read. */
  readonly version?: Version;
  readonly clusterIds: readonly [string, ...string[]];
  /** By ID, as the other maps. */
  readonly addresses: ReadonlyMap<string, PublicAddress>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly firewallRules: ReadonlyMap<string, FirewallRule>;
  readonly networks: ReadonlyMap<string, Network>;
  /** When they were listed, in monotonic milliseconds. Absent: they must be listed again. */
  readonly networksAtMs?: number;
  readonly vms: ReadonlyMap<string, BackendVm>;
  /**
   * Items by the ID of their list, for the networks of Nodes and of rules of Services. Absent: not known, or the list
   * is `default_allow` or `default_deny`.
   */
  readonly aclItems: ReadonlyMap<string, readonly AclItem[]>;
  /** IDs of the VMs of each rule, by the ID of the rule; only rules of Services. Absent: not known. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  /** By the ID of the rule; only rules of Services in networks with stickiness. Absent: not known. */
  readonly policies: ReadonlyMap<string, readonly StickinessPolicy[]>;
  /**
   * Whose API user took an address, by the ID of the address, for addresses that a record names or may mean. Absent, or
   * without an address: CloudStack does not say.
   */
  readonly allocatedBy?: ReadonlyMap<string, AllocatedBy>;
  /**
   * Firewall rules whose load-balancer rule went by itself while this process looked, by ID: the name of the load
   * balancer that they belonged to. Absent: it saw none.
   */
  readonly orphans?: ReadonlyMap<string, string>;
  /**
   * Rules with backends that CloudStack has not sent to the router, by ID: since which observation, in monotonic
   * milliseconds; `-Infinity` if it failed to. Absent: there are none.
   */
  readonly unsent?: ReadonlyMap<string, number>;
  /**
   * Jobs that this process knows to be over, by ID: a record may still name them. Absent: it knows none.
   */
  readonly endedJobs?: ReadonlySet<string>;
  /**
   * Says which Services may have a load balancer at the time of the call, not at that of the observation: one that is
   * newer than the observation may have an address already. Absent: not known.
   */
  readonly findHolder?: FindHolder;
  /** See {@linkcode LoadBalancerQuestion}. Absent: not known. */
  readonly claims?: LoadBalancerQuestion["claims"];
  /** See {@linkcode LoadBalancerQuestion}. */
  readonly listSharingRules?: LoadBalancerQuestion["listSharingRules"];
  /** Says which records Landfall wrote. */
  readonly recordSigner: RecordSigner;
  /** In addition to all of these. Usually empty. */
  readonly unreadable: readonly Unreadable[];
}

/** What is on one address. */
interface OnAddress<T> {
  /** By ID. */
  readonly all: T[];
  readonly byPort: Map<number, T[]>;
  /** What is not about exactly one port. */
  readonly ranges: T[];
}

type Index<T> = ReadonlyMap<string, OnAddress<T>>;

/** The content of an observation never changes, so an index lives as long as its observation. */
const RULES = new WeakMap<Observation["rules"], Index<Rule>>();
const FIREWALL_RULES = new WeakMap<Observation["firewallRules"], Index<FirewallRule>>();

/** The load-balancer rules on an address, of all Services and of others, by ID. @param port Only those of this port */
export function listRulesOn(
  { rules }: Pick<Observation, "rules">,
  addressId: string,
  port?: number,
): readonly Rule[] {
  let index = RULES.get(rules);
  if (index === undefined) RULES.set(rules, (index = toIndex(rules, (one) => one.publicPort)));
  const found = index.get(addressId);
  return (port === undefined ? found?.all : found?.byPort.get(port)) ?? [];
}

/** All firewall rules on an address, by ID. */
export function listFirewallRulesOn(
  { firewallRules }: Observation,
  addressId: string,
): readonly FirewallRule[] {
  return toFirewallIndex(firewallRules).get(addressId)?.all ?? [];
}

/** The firewall rules on an address for exactly this port, of any protocol; then those for several ports. */
export function listFirewallRulesFor(
  { firewallRules }: Observation,
  addressId: string,
  port: number,
): { readonly exact: readonly FirewallRule[]; readonly ranges: readonly FirewallRule[] } {
  const found = toFirewallIndex(firewallRules).get(addressId);
  return { exact: found?.byPort.get(port) ?? [], ranges: found?.ranges ?? [] };
}

function toFirewallIndex(firewallRules: Observation["firewallRules"]): Index<FirewallRule> {
  const known = FIREWALL_RULES.get(firewallRules);
  if (known !== undefined) return known;
  const index = toIndex(firewallRules, ({ startPort, endPort }) =>
    (endPort ?? startPort) === startPort ? startPort : undefined,
  );
  FIREWALL_RULES.set(firewallRules, index);
  return index;
}

function toIndex<T extends { readonly id: string; readonly addressId: string }>(
  objects: ReadonlyMap<string, T>,
  findPort: (one: T) => number | undefined,
): Index<T> {
  const index = new Map<string, OnAddress<T>>();
  for (const one of [...objects.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const on = index.get(one.addressId) ?? createOnAddress<T>();
    index.set(one.addressId, on);
    on.all.push(one);
    const port = findPort(one);
    if (port === undefined) on.ranges.push(one);
    else {
      const same = on.byPort.get(port) ?? [];
      on.byPort.set(port, same);
      same.push(one);
    }
  }
  return index;
}

function createOnAddress<T>(): OnAddress<T> {
  return { all: [], byPort: new Map<number, T[]>(), ranges: [] };
}

/** Whether a server is of a version, or later. A server whose version is not known is older. */
export function isSince(version: Version | undefined, major: number, minor: number): boolean {
  if (version === undefined) return false;
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** Whether the rules of a server have a list of their own that restricts clients. */
export function hasRuleLists({ version }: Observation): boolean {
  return isSince(version, 4, 18);
}

/** Whether the list of a rule can be changed. Otherwise, the rule must be made again. */
export function canUpdateRuleLists({ version }: Observation): boolean {
  return isSince(version, 4, 22);
}
