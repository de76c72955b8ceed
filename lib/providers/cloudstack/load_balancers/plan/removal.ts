/**
 * Plans the removal of a load-balancer rule with what belongs to it. Pure.
 * @module
 */
import { planAclRemoval } from "../clients/acl.ts";
import { planFirewallRemoval } from "../clients/firewall.ts";
import { toDeletion } from "./rules.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "../steps.ts";
import type { AclItem, Rule } from "../view.ts";

/**
 * Plans to remove a rule. What lets clients in goes first, and so the rule is the last proof of what belongs to it:
 * after a crash, the next plan still knows.
 *
 * @param isNeeded Whether an ACL item stays, because another rule of the Service needs it
 */
export function planRemoval(
  scene: Scene,
  rule: Rule,
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  return [...planClosing(scene, rule, isNeeded), toDeletion(scene, rule)];
}

/** Plans to keep all clients out of a rule that goes. @param isNeeded As that of {@linkcode planRemoval} */
export function planClosing(
  scene: Scene,
  rule: Rule,
  isNeeded: (item: AclItem) => boolean,
): readonly Step[] {
  return [...planFirewallRemoval(scene, rule), ...planAclRemoval(scene, rule, isNeeded)];
}
