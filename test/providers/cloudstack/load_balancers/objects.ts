/**
 * Objects of a look, as tests need them: everything has a value, and a test says what matters to it.
 * @module
 */
import { RecordSigner } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { Found } from "../../../../lib/providers/cloudstack/load_balancers/store.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessPolicy,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";

/** The key that signs records. */
export const SIGNING_KEY: Uint8Array = new TextEncoder().encode("key of these tests");

/** Signs records with it. */
export const SIGNER: RecordSigner = new RecordSigner(SIGNING_KEY);

/** A public address of the network `net`. */
export function toAddress(id: string, over: Partial<PublicAddress> = {}): PublicAddress {
  return {
    id,
    ip: "192.0.2.1",
    state: "Allocated",
    networkId: "net",
    isSourceNat: false,
    isStaticNat: false,
    tags: new Map(),
    ...over,
  };
}

/** A rule for port 80 of the address `ip`. */
export function toRule(id: string, over: Partial<Rule> = {}): Rule {
  return {
    id,
    name: `${id}-tcp-80`,
    addressId: "ip",
    ip: "192.0.2.1",
    networkId: "net",
    publicPort: 80,
    privatePort: 30_080,
    protocol: "tcp",
    algorithm: "roundrobin",
    cidrs: [],
    state: "Active",
    ...over,
  };
}

/** A firewall rule for port 80 of the address `ip`. */
export function toFirewallRule(id: string, over: Partial<FirewallRule> = {}): FirewallRule {
  const ports = { startPort: 80, endPort: 80 };
  return { id, addressId: "ip", protocol: "tcp", ...ports, cidrs: [], state: "Active", ...over };
}

/** An item of the list `acl`. */
export function toAclItem(id: string, over: Partial<AclItem> = {}): AclItem {
  const traffic = { protocol: "tcp", startPort: 80, endPort: 80, isIngress: true, isAllow: true };
  return { id, listId: "acl", ...traffic, number: 1, ...over };
}

/** A policy without parameters. */
export function toPolicy(id: string, over: Partial<StickinessPolicy> = {}): StickinessPolicy {
  return { id, name: id, method: "LbCookie", params: new Map(), state: "", ...over };
}

/** An isolated network. */
export function toNetwork(id: string, over: Partial<Network> = {}): Network {
  const offered = { hasLoadBalancers: true, hasFirewall: true, hasNetworkAcl: false };
  return { id, name: id, ...offered, hasDns: false, ...over };
}

/** What a look found: nothing, except what a test says. */
export function toFound(over: Partial<Found> = {}): Found {
  return {
    takenAtMs: 0,
    takenAtWallMs: 0,
    isOurCloud: true,
    addresses: new Map(),
    rules: new Map(),
    firewallRules: new Map(),
    networks: new Map(),
    aclItems: new Map(),
    members: new Map(),
    policies: new Map(),
    unreadable: [],
    ...over,
  };
}

/** Objects by their IDs. */
export function byId<T extends { readonly id: string }>(...objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((one) => [one.id, one]));
}
