/**
 * The life of a public address: free, of an owner, bound to a network, and what goes when it is released.
 * @module
 */
import type { PublicIp } from "./records.ts";
import type { CloudStackState } from "./state.ts";

/** Ports of an address that are in use, and by what. */
interface UsedPorts {
  readonly id: string;
  readonly ipId: string;
  readonly publicPort: number;
  readonly publicEndPort: number;
}

/** Jobs about an address run after those with the same key: of its network, of its VPC before it is bound to a tier. */
export function toSerialKey({ id, networkId, vpcId, turn }: PublicIp): string {
  if (networkId !== undefined) return `network/${networkId}`;
  return vpcId === undefined ? (turn ?? `ip/${id}`) : `vpc/${vpcId}`;
}

/** The ports that load-balancer rules and port forwardings use on an address. */
export function listUsedPorts(state: CloudStackState, ipId: string): UsedPorts[] {
  const rules = [...state.loadBalancerRules.values()].map((rule) => ({
    ...rule,
    publicEndPort: rule.publicPort,
  }));
  return [...rules, ...state.portForwardings.values()].filter((used) => used.ipId === ipId);
}

/** Whether anything is on an address: rules of any kind. */
export function hasRules(state: CloudStackState, ipId: string): boolean {
  const maps = [state.loadBalancerRules, state.portForwardings, state.firewallRules];
  return maps.some((map) => map.values().some((rule) => rule.ipId === ipId));
}

/** Takes an address of a VPC off its tier, once no rule or virtual machine needs it there. */
export function unbindIfUnused(state: CloudStackState, ipId: string): void {
  const ip = state.publicIps.get(ipId);
  if (ip?.vpcId === undefined || ip.isSourceNat || ip.staticNatVmId !== undefined) return;
  if (!hasRules(state, ipId)) delete ip.networkId;
}

/** Removes a load-balancer rule, and what belongs to it. */
export function dropRule(state: CloudStackState, ruleId: string): void {
  const rule = state.loadBalancerRules.get(ruleId);
  if (rule === undefined) return;
  state.loadBalancerRules.delete(ruleId);
  if (rule.firewallRuleId !== undefined) state.removeFirewallRule(rule.firewallRuleId);
  for (const policy of state.stickinessPolicies.values()) {
    if (policy.ruleId === ruleId) state.stickinessPolicies.delete(policy.id);
  }
  state.tags.drop(ruleId);
  unbindIfUnused(state, rule.ipId);
}

/** Removes a port forwarding. */
export function dropPortForwarding(state: CloudStackState, id: string): void {
  const one = state.portForwardings.get(id);
  if (one === undefined) return;
  state.portForwardings.delete(id);
  state.tags.drop(id);
  unbindIfUnused(state, one.ipId);
}

/** Removes everything on an address, rules of other people included. */
export function wipe(state: CloudStackState, ip: PublicIp): void {
  for (const { id, ipId } of state.loadBalancerRules.values()) {
    if (ipId === ip.id) dropRule(state, id);
  }
  for (const { id, ipId } of state.portForwardings.values()) {
    if (ipId === ip.id) dropPortForwarding(state, id);
  }
  for (const { id, ipId } of state.firewallRules.values()) {
    if (ipId === ip.id) state.removeFirewallRule(id);
  }
  delete ip.staticNatVmId;
}

/** Gives an address back, with everything on it. */
export function free(state: CloudStackState, ip: PublicIp): void {
  wipe(state, ip);
  state.tags.drop(ip.id);
  ip.state = "Free";
  delete ip.accountId;
  delete ip.allocatedMs;
  delete ip.networkId;
  delete ip.vpcId;
  delete ip.turn;
}
