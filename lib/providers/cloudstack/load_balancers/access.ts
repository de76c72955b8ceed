/**
 * Decides what keeps unwanted clients out of a network's load balancers: its firewall, its ACL list, or the list of
 * each rule. Pure.
 * @module
 */
import type { LoadBalancerProblem } from "../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../core/text/printable.ts";
import { type AclSite, isAclWider, planAcl } from "./acl.ts";
import { type AccessPlan, type AccessSite, isFirewallWider, planFirewall } from "./firewall.ts";
import { toWaiting } from "./words.ts";
import { type AclItem, hasRuleLists, type Network, type Observation } from "./observation.ts";

/** What lets clients in. With `rule`, all clients get in that the rule's own list does not keep out. */
export type AccessControl =
  | { readonly kind: "firewall" }
  | { readonly kind: "acl"; readonly listId: string; readonly items: readonly AclItem[] }
  | { readonly kind: "rule" };

/** Finds what lets clients into a network, or why it is not known or cannot be changed. */
export function findAccessControl(
  cloud: Observation,
  network: Network,
): AccessControl | LoadBalancerProblem {
  if (network.hasFirewall) return { kind: "firewall" };
  if (!network.hasNetworkAcl) return { kind: "rule" };
  const where = `the network ${quote(network.name)} (${network.id})`;
  if (network.aclListName === "default_allow") return { kind: "rule" };
  if (network.aclListName === "default_deny") {
    const why = "which lets no client in and cannot be changed: give it an ACL list of its own";
    return toWaiting("NetworkNotUsable", `${where} has the ACL list default_deny, ${why}`);
  }
  if (network.aclListId === undefined) {
    return toWaiting(
      "NetworkNotUsable",
      `${where} has no ACL list, so no client gets in: give it one`,
    );
  }
  const items = cloud.aclItems.get(network.aclListId);
  if (items === undefined) {
    return toWaiting(
      "NotKnown",
      `CloudStack does not show the ACL list ${network.aclListId} of ${where}`,
    );
  }
  return { kind: "acl", listId: network.aclListId, items };
}

/** Whether what lets clients in was found. */
export function isAccessControl(
  found: AccessControl | LoadBalancerProblem,
): found is AccessControl {
  return "kind" in found;
}

/**
 * Whether a rule needs a list of its own to keep unwanted clients out.
 *
 * An ACL list is of the whole tier: the item of another Service for the same port, made at any time, lets its clients
 * in here, too. A firewall rule is of one address.
 */
export function needsRuleList(access: AccessControl, site: AccessSite): boolean {
  if (access.kind === "firewall") return isFirewallWider(site);
  if (access.kind === "acl" && !hasRuleLists(site.current.cloud)) {
    return isAclWider(toAclSite(access, site));
  }
  return site.sources !== undefined;
}

/** Plans what lets the clients of one port in. */
export function planAccess(access: AccessControl, site: AccessSite): AccessPlan {
  if (access.kind === "firewall") return planFirewall(site);
  if (access.kind === "acl") return planAcl(toAclSite(access, site));
  return { before: [], after: [], problems: [] };
}

/** Says that a server cannot restrict clients as asked. @param where What has no means to do it */
export function toNoRuleLists(where: string): LoadBalancerProblem {
  const why =
    "only the load-balancer rule itself could keep other clients out, which needs CloudStack 4.18";
  const advice =
    "remove the source ranges, or upgrade; if the server is newer, give its version in the settings";
  return toWaiting("SourceRangesNotPossible", `${where}: ${why}: ${advice}`);
}

function toAclSite(
  { listId, items }: AccessControl & { readonly kind: "acl" },
  site: AccessSite,
): AclSite {
  return { ...site, listId, items };
}
