/**
 * The records of load balancing in the simulated CloudStack: rules, their members, and what the router runs of them.
 * @module
 */

/** A virtual machine behind a rule. */
export interface Member {
  readonly vmId: string;
  /** The address that gets the traffic: of the interface in the rule's network, or a secondary one of it. */
  readonly ip: string;
  /** Whether a job that runs takes it away. */
  isRevoked: boolean;
}

/** What a router runs of a rule. It can differ from what the rule says: not every change is sent to the router. */
export interface AppliedRule {
  readonly algorithm: string;
  readonly protocol: string;
  /** As the rule has it. */
  readonly cidrList: string | undefined;
  readonly privatePort: number;
  /** Addresses of the members. */
  readonly backends: readonly string[];
}

/** A load-balancer rule. */
export interface LoadBalancerRule {
  readonly id: string;
  name: string;
  description?: string;
  readonly ipId: string;
  readonly networkId: string;
  readonly accountId: string;
  readonly publicPort: number;
  readonly privatePort: number;
  algorithm: string;
  /** `tcp` for a rule that was made without. */
  protocol?: string;
  /** Sources that may connect, as stored: with blanks when the rule was made, with commas after a change. */
  cidrList?: string;
  /** `Add` without a member, `Revoke` while it is deleted. */
  state: "Add" | "Active" | "Revoke";
  members: Member[];
  /** The firewall rule that was made with it, and goes with it. */
  readonly firewallRuleId?: string;
  /** What the router runs; absent until the rule was sent to it for the first time. */
  applied?: AppliedRule;
}

/** A rule that forwards ports of an address to one virtual machine. */
export interface PortForwarding {
  readonly id: string;
  readonly ipId: string;
  readonly networkId: string;
  readonly accountId: string;
  readonly protocol: "tcp" | "udp";
  readonly publicPort: number;
  readonly publicEndPort: number;
  readonly privatePort: number;
  readonly privateEndPort: number;
  readonly vmId: string;
}

/**
 * Sends a rule to the router as it is now; from then on it counts as `Active`, or as `Add` without a member. Members
 * that are being taken away go.
 *
 * A real router gets every rule of the network with it. Here it gets only this one, so that a client cannot live on
 * what it does to other rules.
 */
export function applyRule(rule: LoadBalancerRule): void {
  rule.members = rule.members.filter((member) => !member.isRevoked);
  rule.state = rule.members.length === 0 ? "Add" : "Active";
  rule.applied = {
    algorithm: rule.algorithm,
    protocol: rule.protocol ?? "tcp",
    cidrList: rule.cidrList,
    privatePort: rule.privatePort,
    backends: rule.members.map(({ ip }) => ip),
  };
}

/** Takes a virtual machine that is expunged out of a rule. */
export function leaveRule(rule: LoadBalancerRule, vmId: string): void {
  const kept = rule.members.filter((member) => member.vmId !== vmId);
  if (kept.length === rule.members.length) return;
  rule.members = kept;
  applyRule(rule);
}

/** The number by which the server's texts name an object. */
export function toNumber(id: string): number {
  return Number.parseInt(id.slice(0, 4), 16);
}
