/**
 * Firewall rules of the simulated CloudStack: which sources may reach which ports of a public address.
 * @module
 */
import { toUuid } from "../../uuid.ts";

/** A rule of a public address. Without one for a port, nothing reaches it. */
export interface FirewallRule {
  readonly id: string;
  readonly ipId: string;
  readonly networkId: string;
  readonly accountId: string;
  /** `tcp`, `udp`, `icmp`, or `all`. */
  readonly protocol: string;
  /** Every port when it is absent. */
  readonly startPort?: number;
  readonly endPort?: number;
  readonly icmpType?: number;
  readonly icmpCode?: number;
  /** Sources. */
  readonly cidrs: readonly string[];
  /** `Add` until the router has it, `Revoke` while it is deleted. */
  state: "Add" | "Active" | "Revoke";
}

/** What {@linkcode toFirewallRule} takes. */
interface FirewallRuleOptions extends Partial<
  Omit<FirewallRule, "id" | "ipId" | "networkId" | "accountId">
> {
  /** The address; it must have an owner and a network. */
  readonly ip: { readonly id: string; readonly networkId?: string; readonly accountId?: string };
}

/** A rule that is in force: TCP from everywhere, to every port, unless something else is asked for. */
export function toFirewallRule({ ip, ...rule }: FirewallRuleOptions): FirewallRule {
  const { protocol = "tcp", cidrs = ["0.0.0.0/0"], startPort, endPort = startPort } = rule;
  const { id: ipId, networkId = "", accountId = "" } = ip;
  const ports = {
    ...(startPort !== undefined && { startPort }),
    ...(endPort !== undefined && { endPort }),
  };
  const id = toUuid(`firewall/${ipId}/${protocol}/${startPort}-${endPort}/${cidrs.join(",")}`);
  return { ...rule, ...ports, id, ipId, networkId, accountId, protocol, cidrs, state: "Active" };
}

/** Whether the server takes a new rule beside another one: not when ports, protocol and one source are the same. */
export function isInConflict(rule: FirewallRule, other: FirewallRule): boolean {
  if (rule.ipId !== other.ipId || other.state === "Revoke") return false;
  if (rule.protocol !== other.protocol) return false;
  if (!rule.cidrs.some((cidr) => other.cidrs.includes(cidr))) return false;
  if (rule.protocol === "icmp") {
    return rule.icmpType === other.icmpType && rule.icmpCode === other.icmpCode;
  }
  const [one, two] = [toRange(rule), toRange(other)];
  // A rule for every port and one for some do not meet, as the server sees it.
  if (one === undefined || two === undefined) return one === two;
  return one.start <= two.end && two.start <= one.end;
}

function toRange({
  startPort: start,
  endPort: end,
}: FirewallRule): { readonly start: number; readonly end: number } | undefined {
  return start === undefined || end === undefined ? undefined : { start, end };
}
