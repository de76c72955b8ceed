/**
 * The classes that carry out asynchronous commands: jobs are called by them.
 * @module
 */

/** By command: the package below `command.user`, and the name of the class where it is not the command's. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["associateIpAddress", "address.AssociateIPAddr"],
  ["disassociateIpAddress", "address.DisassociateIPAddr"],
  ["createFirewallRule", "firewall.CreateFirewallRule"],
  ["deleteFirewallRule", "firewall.DeleteFirewallRule"],
  ["createPortForwardingRule", "firewall.CreatePortForwardingRule"],
  ["deletePortForwardingRule", "firewall.DeletePortForwardingRule"],
  ["createLoadBalancerRule", "loadbalancer.CreateLoadBalancerRule"],
  ["updateLoadBalancerRule", "loadbalancer.UpdateLoadBalancerRule"],
  ["deleteLoadBalancerRule", "loadbalancer.DeleteLoadBalancerRule"],
  ["assignToLoadBalancerRule", "loadbalancer.AssignToLoadBalancerRule"],
  ["removeFromLoadBalancerRule", "loadbalancer.RemoveFromLoadBalancerRule"],
  ["createLBStickinessPolicy", "loadbalancer.CreateLBStickinessPolicy"],
  ["deleteLBStickinessPolicy", "loadbalancer.DeleteLBStickinessPolicy"],
  ["createNetworkACL", "network.CreateNetworkACL"],
  ["updateNetworkACLItem", "network.UpdateNetworkACLItem"],
  ["deleteNetworkACL", "network.DeleteNetworkACL"],
  ["addAccountToProject", "account.AddAccountToProject"],
  ["createTags", "tag.CreateTags"],
  ["deleteTags", "tag.DeleteTags"],
  ["startVirtualMachine", "vm.StartVM"],
  ["stopVirtualMachine", "vm.StopVM"],
  ["destroyVirtualMachine", "vm.DestroyVM"],
  ["expungeVirtualMachine", "vm.ExpungeVM"],
]);

/** The class of a command: `org.apache.cloudstack.api.command.user.vm.StartVMCmd`. */
export function toClassName(command: string): string {
  return `org.apache.cloudstack.api.command.user.${CLASSES.get(command) ?? command}Cmd`;
}
