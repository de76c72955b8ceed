/**
 * Finds rules and firewall rules by their address and port, in looks with thousands of them. Pure.
 *
 * A Service may have a port for each node port. To go through all rules for each of its ports would hold up everything
 * else that the process does.
 * @module
 */
import type { FirewallRule, Rule, View } from "../view.ts";

/** What is on one address. */
interface OnAddress<T> {
  /** By ID. */
  readonly all: T[];
  readonly byPort: Map<number, T[]>;
  /** What is not about exactly one port. */
  readonly ranges: T[];
}

type Index<T> = ReadonlyMap<string, OnAddress<T>>;

/** The content of a look never changes, so an index lives as long as its look. */
const RULES = new WeakMap<View["rules"], Index<Rule>>();
const FIREWALL_RULES = new WeakMap<View["firewallRules"], Index<FirewallRule>>();

/** The load-balancer rules on an address, of all Services and of others, by ID. @param port Only those of this port */
export function listRulesOn(
  { rules }: Pick<View, "rules">,
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
  { firewallRules }: View,
  addressId: string,
): readonly FirewallRule[] {
  return toFirewallIndex(firewallRules).get(addressId)?.all ?? [];
}

/** The firewall rules on an address for exactly this port, of any protocol; then those for several ports. */
export function listFirewallRulesFor(
  { firewallRules }: View,
  addressId: string,
  port: number,
): { readonly exact: readonly FirewallRule[]; readonly ranges: readonly FirewallRule[] } {
  const found = toFirewallIndex(firewallRules).get(addressId);
  return { exact: found?.byPort.get(port) ?? [], ranges: found?.ranges ?? [] };
}

function toFirewallIndex(firewallRules: View["firewallRules"]): Index<FirewallRule> {
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
