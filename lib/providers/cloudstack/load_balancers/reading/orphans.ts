/**
 * Finds firewall rules whose load-balancer rule was deleted by hand between two looks. Pure.
 *
 * CloudStack leaves such a firewall rule, and nothing on it says whose it is. Only an earlier look does.
 * @module
 */
import { parseRuleName } from "../rule_names.ts";
import type { FirewallRule, View } from "../view.ts";
import { listRulesOn } from "./on_addresses.ts";

type Shown = Pick<View, "firewallRules" | "orphans" | "rules">;

/**
 * Finds them among what a look found.
 *
 * @param before What was known right before, with the changes that this process made
 * @returns The name of the load balancer that each belonged to, by the ID of the firewall rule
 */
export function findOrphans(
  before: Shown | undefined,
  found: Pick<View, "firewallRules" | "rules">,
): ReadonlyMap<string, string> {
  const orphans = new Map<string, string>();
  if (before === undefined) return orphans;
  for (const one of found.firewallRules.values()) {
    if (findLbName(found.rules, one) !== undefined || !before.firewallRules.has(one.id)) continue;
    const lbName = findLbName(before.rules, one) ?? before.orphans?.get(one.id);
    if (lbName !== undefined) orphans.set(one.id, lbName);
  }
  return orphans;
}

/** The name of the load balancer with a rule for exactly the port of a firewall rule. */
function findLbName(
  rules: View["rules"],
  { addressId, protocol, startPort, endPort }: FirewallRule,
): string | undefined {
  if (startPort === undefined || (endPort ?? startPort) !== startPort) return undefined;
  const rule = listRulesOn({ rules }, addressId, startPort).find(
    (one) => (one.protocol === "udp" ? "udp" : "tcp") === protocol,
  );
  return rule && parseRuleName(rule.name)?.lbName;
}
