/**
 * The objects of the simulated CloudStack, and how they are made.
 * @module
 */
import type { Account, Domain, Project, User } from "../access/accounts.ts";
import { toUuid } from "../../uuid.ts";
import type { FirewallRule } from "./firewall.ts";
import type {
  LoadBalancerRule,
  PortForwarding,
  StickinessMethod,
  StickinessPolicy,
} from "./load_balancing.ts";
import type { Tag } from "./tags.ts";
import { DEFAULT_DENY, type AclItem, type AclList, type Vpc } from "./vpcs.ts";

/** The states of a virtual machine. */
export type VmState =
  | "Starting"
  | "Running"
  | "Stopping"
  | "Stopped"
  | "Migrating"
  | "Shutdown"
  | "Destroyed"
  | "Expunging"
  | "Error"
  | "Unknown";

/** A zone. */
export interface Zone {
  readonly id: string;
  name: string;
  /** A disabled zone is shown to the root administrator only. */
  isEnabled: boolean;
}

/** A service offering: what a virtual machine has. */
export interface Offering {
  readonly id: string;
  name: string;
  readonly cpus: number;
  readonly speedMhz: number;
  readonly memoryMib: number;
}

/** A network: of an account or a project, or shared with every account. */
export interface Network {
  readonly id: string;
  readonly name: string;
  readonly type: "Isolated" | "Shared" | "L2";
  readonly zoneId: string;
  /** Empty for a network that every account sees. */
  readonly accountId: string;
  /** The first three parts of its addresses, with the last dot: `10.1.1.`. */
  readonly prefix: string;
  /** What its router offers: `Lb`, `Firewall`, `StaticNat`. */
  readonly services: readonly string[];
  /**
   * What balances its load, if it refuses something: HAProxy on the router of recent servers does not take UDP, even
   * though the network lists it. @default {takes every protocol}
   */
  readonly balancer?: "HAProxy";
  /** The VPC that it is a tier of. */
  readonly vpcId?: string;
  /** A tier's list of network ACL items. */
  aclId?: string;
  /** How its load balancer keeps a client at one backend; none when it is empty. @default {as HAProxy does} */
  readonly stickiness?: readonly StickinessMethod[];
}

/** An interface of a virtual machine. */
export interface Nic {
  readonly id: string;
  readonly networkId: string;
  ipAddress?: string;
  ip6Address?: string;
  isDefault: boolean;
}

/** A virtual machine. */
export interface Vm {
  readonly id: string;
  name: string;
  displayName: string;
  accountId: string;
  readonly createdMs: number;
  state: VmState;
  readonly zoneId: string;
  offeringId: string;
  /** The server shows them in any order. */
  nics: Nic[];
  /** The hypervisor that it runs on or ran on last. */
  hostName: string;
  /** A machine that an administrator hides is shown to no user, not even by its ID. */
  isDisplayed: boolean;
  /** Since it is expunged, its ID is known and every list lacks it. */
  isRemoved: boolean;
  /** Fields as they are sent, instead of the right ones; `undefined` leaves one out. */
  overrides: Readonly<Record<string, unknown>>;
}

/** The states of a public address. One that is `Reserved` has an owner and no network. */
type IpState = "Free" | "Reserved" | "Allocating" | "Allocated" | "Releasing";

/** A public address. A free one has no owner. */
export interface PublicIp {
  readonly id: string;
  readonly address: string;
  readonly zoneId: string;
  state: IpState;
  accountId?: string;
  allocatedMs?: number;
  /** The network that it leads to. One of a VPC has none until a rule needs it. */
  networkId?: string;
  /** The VPC that it belongs to. */
  vpcId?: string;
  /** The key of the job that gives it a network or a VPC: jobs after it wait for it. */
  turn?: string;
  isSourceNat: boolean;
  /** The virtual machine that it is translated to, if it serves static NAT. */
  staticNatVmId?: string;
}

/** Everything that a simulated CloudStack starts with. What is omitted is empty. */
export interface World {
  readonly domains?: readonly Domain[];
  readonly accounts?: readonly Account[];
  readonly projects?: readonly Project[];
  readonly users?: readonly User[];
  readonly zones?: readonly Zone[];
  readonly offerings?: readonly Offering[];
  readonly networks?: readonly Network[];
  readonly vms?: readonly Vm[];
  readonly publicIps?: readonly PublicIp[];
  readonly firewallRules?: readonly FirewallRule[];
  readonly loadBalancerRules?: readonly LoadBalancerRule[];
  readonly portForwardings?: readonly PortForwarding[];
  readonly stickinessPolicies?: readonly StickinessPolicy[];
  readonly vpcs?: readonly Vpc[];
  /** Beside the two lists that are always there. */
  readonly aclLists?: readonly AclList[];
  readonly aclItems?: readonly AclItem[];
  readonly tags?: readonly Tag[];
}

/** What {@linkcode toVm} needs. */
export interface VmOptions {
  readonly name: string;
  /** @default {a UUID made of the name} */
  readonly id?: string;
  readonly accountId: string;
  readonly zoneId: string;
  readonly offeringId: string;
  /** @default {"Running"} */
  readonly state?: VmState;
  /** @default {none} */
  readonly nics?: readonly Nic[];
  /** @default {"kvm-1"} */
  readonly hostName?: string;
}

/** What {@linkcode toNic} needs. */
interface NicOptions {
  /** Makes the ID, together with the network. */
  readonly vmName: string;
  readonly network: Network;
  readonly ipAddress?: string;
  readonly ip6Address?: string;
  /** @default {true} */
  readonly isDefault?: boolean;
}

/** What {@linkcode toNetwork} needs. */
export interface NetworkOptions {
  readonly name: string;
  readonly zoneId: string;
  /** @default {every account's} */
  readonly accountId?: string;
  /** @default {"Isolated", and "Shared" without an account} */
  readonly type?: Network["type"];
  /** @default {"10.1.1."} */
  readonly prefix?: string;
  readonly services?: readonly string[];
  /** The VPC that it is a tier of. @default {none} */
  readonly vpc?: Vpc;
  /** A tier's list of network ACL items. @default {the one that lets nothing through} */
  readonly aclList?: AclList;
  /** @default {what HAProxy knows} */
  readonly stickiness?: readonly StickinessMethod[];
}

const CREATED_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const ISOLATED_SERVICES = [
  "Lb",
  "Firewall",
  "SourceNat",
  "StaticNat",
  "PortForwarding",
  "Dhcp",
  "Dns",
];
const TIER_SERVICES = [
  "Lb",
  "NetworkACL",
  "SourceNat",
  "StaticNat",
  "PortForwarding",
  "Dhcp",
  "Dns",
];
const SHARED_SERVICES = ["Dhcp", "Dns", "UserData"];

/** A zone. */
export function toZone(name: string): Zone {
  return { id: toUuid(`zone/${name}`), name, isEnabled: true };
}

/** A service offering. */
export function toOffering(name: string, cpus: number, memoryMib: number): Offering {
  return { id: toUuid(`offering/${name}`), name, cpus, speedMhz: 2_000, memoryMib };
}

/** A network. */
export function toNetwork(options: NetworkOptions): Network {
  const { name, zoneId, accountId = "", prefix = "10.1.1." } = options;
  const isShared = accountId === "";
  const type = options.type ?? (isShared ? "Shared" : "Isolated");
  const { vpc, aclList = DEFAULT_DENY, stickiness } = options;
  const usual = type === "Isolated" ? ISOLATED_SERVICES : SHARED_SERVICES;
  const services = options.services ?? (vpc === undefined ? usual : TIER_SERVICES);
  const id = toUuid(`network/${zoneId}/${name}`);
  const own = { id, name, type, zoneId, accountId, prefix, services };
  const network = stickiness === undefined ? own : { ...own, stickiness };
  return vpc === undefined ? network : { ...network, vpcId: vpc.id, aclId: aclList.id };
}

/** An interface. */
export function toNic(options: NicOptions): Nic {
  const { vmName, network, ipAddress, ip6Address, isDefault = true } = options;
  return {
    id: toUuid(`nic/${network.id}/${vmName}`),
    networkId: network.id,
    ...(ipAddress !== undefined && { ipAddress }),
    ...(ip6Address !== undefined && { ip6Address }),
    isDefault,
  };
}

/** A virtual machine. */
export function toVm(options: VmOptions): Vm {
  const { name, id = toUuid(`vm/${name}`), accountId, zoneId, offeringId } = options;
  return {
    id,
    name,
    displayName: name,
    accountId,
    createdMs: CREATED_MS,
    state: options.state ?? "Running",
    zoneId,
    offeringId,
    nics: [...(options.nics ?? [])],
    hostName: options.hostName ?? "kvm-1",
    isDisplayed: true,
    isRemoved: false,
    overrides: {},
  };
}

/** A public address: free, or of an account. */
export function toPublicIp(address: string, zoneId: string, accountId?: string): PublicIp {
  return {
    id: toUuid(`ip/${address}`),
    address,
    zoneId,
    state: accountId === undefined ? "Free" : "Allocated",
    isSourceNat: false,
    ...(accountId !== undefined && { accountId, allocatedMs: CREATED_MS }),
  };
}
