/**
 * Changes of firewall rules.
 * @module
 */
import { assert } from "../../../../core/errors.ts";
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import type { ChangeOf } from "../steps.ts";
import { type Acting, compare, send, sendRemoval, toSorted } from "./acting.ts";

/** Opens one port of an address. */
export async function createFirewallRule(
  { addressId, protocol, port, cidrs }: ChangeOf<"createFirewallRule">,
  acting: Acting,
): Promise<void> {
  // CloudStack takes an empty list for everyone.
  assert(cidrs.length > 0, "a firewall rule names at least one block");
  const made = await send(acting, {
    command: "createFirewallRule",
    params: {
      ipaddressid: addressId,
      protocol,
      startport: String(port),
      endport: String(port),
      cidrlist: cidrs.join(","),
    },
    key: "firewallrule",
    schema: LB_SCHEMAS.firewallRule,
  });
  acting.store.putFirewallRule(made);
  const ports = { startPort: port, endPort: port };
  compare(acting, made, { addressId, protocol, ...ports, cidrs: toSorted(cidrs) });
}

/** Closes what a firewall rule opened. */
export async function deleteFirewallRule(
  { firewallRuleId: id }: ChangeOf<"deleteFirewallRule">,
  acting: Acting,
): Promise<void> {
  await sendRemoval(acting, "deleteFirewallRule", id);
  acting.store.dropFirewallRule(id);
}
