/**
 * The parts of a look that change, and what CloudStack changes together with them.
 * @module
 */
import { SharedMap } from "./shared_map.ts";
import type { AclItem, FirewallRule, PublicAddress, Rule, StickinessPolicy, View } from "./view.ts";

/** The parts of a look that change. */
export interface Tables {
  readonly addresses: SharedMap<string, PublicAddress>;
  readonly rules: SharedMap<string, Rule>;
  readonly firewallRules: SharedMap<string, FirewallRule>;
  readonly aclItems: SharedMap<string, readonly AclItem[]>;
  readonly members: SharedMap<string, ReadonlySet<string>>;
  readonly policies: SharedMap<string, readonly StickinessPolicy[]>;
}

/** Tables that begin with what a look found. */
export function toTables(found: Pick<View, keyof Tables>): Tables {
  return {
    addresses: new SharedMap(found.addresses),
    rules: new SharedMap(found.rules),
    firewallRules: new SharedMap(found.firewallRules),
    aclItems: new SharedMap(found.aclItems),
    members: new SharedMap(found.members),
    policies: new SharedMap(found.policies),
  };
}

/** Changes members that are known. A rule without members has the state of a new one. */
export function changeMembers(
  { members, rules }: Tables,
  ruleId: string,
  change: (known: ReadonlySet<string>) => ReadonlySet<string>,
): void {
  const known = members.get(ruleId);
  if (known === undefined) return;
  const changed = change(known);
  members.set(ruleId, changed);
  const rule = rules.get(ruleId);
  if (rule?.state !== "Add" && rule?.state !== "Active") return;
  rules.set(ruleId, { ...rule, state: changed.size === 0 ? "Add" : "Active" });
}

/** Removes a rule with its members and policies. */
export function removeRule(tables: Tables, rule: Rule): void {
  tables.rules.delete(rule.id);
  tables.members.delete(rule.id);
  tables.policies.delete(rule.id);
  renewAddress(tables, rule.addressId);
}

/**
 * Changes an address as the server does when its rules changed. One of a VPC is bound to the tier of its first rule,
 * and freed from it together with its last one.
 */
export function renewAddress(tables: Tables, id: string): void {
  const address = tables.addresses.get(id);
  if (address === undefined) return;
  const { hasRules, networkId, ...apart } = address;
  const boundTo = address.vpcId === undefined ? networkId : findTier(tables, address);
  if (hasRules === undefined && boundTo === networkId) return;
  tables.addresses.set(id, { ...apart, ...(boundTo !== undefined && { networkId: boundTo }) });
}

function findTier(
  { rules, firewallRules }: Tables,
  { id, networkId }: PublicAddress,
): string | undefined {
  const rule = rules.values().find(({ addressId }) => addressId === id);
  const isUsed = rule !== undefined || firewallRules.values().some((one) => one.addressId === id);
  return isUsed ? (networkId ?? rule?.networkId) : undefined;
}

/** Adds an object to the list of a key, or replaces it. A list that is not known stays so. */
export function putById<T extends { readonly id: string }>(
  map: SharedMap<string, readonly T[]>,
  key: string,
  one: T,
): void {
  const known = map.get(key);
  if (known !== undefined) map.set(key, [...known.filter(({ id }) => id !== one.id), one]);
}

/** Removes an object from the list of a key. */
export function dropById<T extends { readonly id: string }>(
  map: SharedMap<string, readonly T[]>,
  key: string,
  id: string,
): void {
  const known = map.get(key);
  if (known !== undefined) {
    map.set(
      key,
      known.filter((one) => one.id !== id),
    );
  }
}
