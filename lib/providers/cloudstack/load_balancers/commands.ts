/**
 * The commands of the API that load balancers need, for the check of a role.
 * @module
 */

/** A command that a role must allow. */
export interface NeededCommand {
  readonly name: string;
  /** What it is for, after the word "to". */
  readonly purpose: string;
  /** Whether no load balancer can be made without it. */
  readonly isMandatory: boolean;
}

/** All of them, besides those for Nodes. */
export const LB_COMMANDS: readonly NeededCommand[] = [
  need("listNetworks", "see what the networks of the Nodes offer"),
  need("listPublicIpAddresses", "see the public addresses and their tags"),
  need("associateIpAddress", "take a public address"),
  need("disassociateIpAddress", "release a public address"),
  need("createTags", "mark a public address as that of a Service"),
  need("listLoadBalancerRules", "see the load-balancer rules"),
  need("createLoadBalancerRule", "make a rule for a port"),
  need("updateLoadBalancerRule", "change a rule"),
  need("deleteLoadBalancerRule", "remove a rule"),
  need("listLoadBalancerRuleInstances", "see the backends of a rule"),
  need("assignToLoadBalancerRule", "add backends"),
  need("removeFromLoadBalancerRule", "remove backends"),
  need("listPortForwardingRules", "see, before a release, whether the address is in use"),
  need("queryAsyncJobResult", "see how a job of CloudStack ended"),
  may("listFirewallRules", "let clients in, in networks with a firewall"),
  may("createFirewallRule", "let clients in, in networks with a firewall"),
  may("deleteFirewallRule", "keep clients out again, in networks with a firewall"),
  may("listNetworkACLLists", "find the ACL list of a VPC tier"),
  may("listNetworkACLs", "let clients in, in VPC tiers"),
  may("createNetworkACL", "let clients in, in VPC tiers"),
  may("updateNetworkACLItem", "change who may connect, in VPC tiers"),
  may("deleteNetworkACL", "keep clients out again, in VPC tiers"),
  may("listLBStickinessPolicies", "see the stickiness of a rule"),
  may("createLBStickinessPolicy", "make a rule sticky"),
  may("deleteLBStickinessPolicy", "end the stickiness of a rule"),
  may("listAsyncJobs", "see, after a crash, who is taking an address"),
  may("listEvents", "see, after a crash, who took an address"),
  may("listUsers", "know, after a crash, which user took an address"),
  may("listCapabilities", "know what this version can do"),
];

/** With it, a role says what else it allows. Only `landfall check` asks. */
export const ROLE_COMMAND = "listApis";

function need(name: string, purpose: string): NeededCommand {
  return { name, purpose, isMandatory: true };
}

function may(name: string, purpose: string): NeededCommand {
  return { name, purpose, isMandatory: false };
}
