/**
 * The firewall rule that a load-balancer rule is made with, unless `openfirewall` is false.
 * @module
 */
import { ApiError, toHidden, toInvalid } from "../../replies.ts";
import { isInConflict, toFirewallRule, type FirewallRule } from "../../world/firewall.ts";
import { toNumber } from "../../world/load_balancing.ts";
import type { Network, PublicIp } from "../../world/records.ts";
import type { Call } from "../call.ts";

/**
 * Whether a firewall rule is asked for: outside of a VPC by default, and never in one.
 *
 * @throws {ApiError} 431 when it is asked for in a VPC
 */
export function opensFirewall({ parameters }: Call, { vpcId }: PublicIp): boolean {
  const isAsked = parameters.get("openfirewall")?.toLowerCase() !== "false";
  if (vpcId === undefined) return isAsked;
  if (!parameters.isTrue("openfirewall")) return false;
  throw toInvalid("Can't have openFirewall=true when IP address belongs to VPC");
}

/**
 * A firewall rule that lets every source reach a port by TCP, even if the load balancer carries UDP.
 *
 * @throws {ApiError} 530 without a firewall, 537 when another rule is in the way
 */
export function toOpeningRule(
  { state }: Call,
  network: Network,
  { ip, port }: { readonly ip: PublicIp; readonly port: number },
): FirewallRule {
  if (!network.services.includes("Firewall")) throw toHidden();
  const made = toFirewallRule({ ip: { ...ip, networkId: network.id }, startPort: port });
  const rule = { ...made, id: state.nextId("firewall") };
  const other = [...state.firewallRules.values()].find((one) => isInConflict(rule, one));
  if (other === undefined) return rule;
  const there = `conflicts with rule ${toNumber(other.id)} which has ${other.startPort}-${other.endPort}`;
  throw new ApiError(537, `The range specified, ${port}-${port}, ${there}`);
}
