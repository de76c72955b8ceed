/**
 * Plans the load-balancer rule of one port. Pure.
 * @module
 */
import { EVERYONE, isSame, toBlocks } from "../wanted/cidrs.ts";
import { canUpdateRuleLists } from "../clients/versions.ts";
import { isGoing, type Scene, toStep } from "./scene.ts";
import type { Change, Step } from "../steps.ts";
import type { PublicAddress, Rule } from "../view.ts";
import type { Wanted, WantedPort } from "../wanted/wanted.ts";

/** The rule of one port, as it should be. */
export interface RuleSite {
  readonly scene: Scene;
  readonly address: PublicAddress;
  readonly networkId: string;
  readonly port: WantedPort;
  readonly wanted: Pick<Wanted, "algorithm" | "description">;
  /** The list of the rule itself. Absent: it lets everyone in. */
  readonly cidrs: readonly string[] | undefined;
}

/**
 * Whether the rule must be made again.
 *
 * A change of protocol would be possible with an update, but CloudStack stores it without telling the router, until
 * something else makes it do so: the Service would look right and go on as before. An update that changes the algorithm
 * and one that changes it back would tell the router, too. But if such a job fails half-way, the next look shows the
 * new protocol, and nothing tells the router any more. Backends have to change together with PROXY protocol anyway, so
 * a short cut costs nothing that is not lost already.
 */
export function mustReplace({ scene, networkId, port, cidrs }: RuleSite, rule: Rule): boolean {
  return (
    isGoing(rule) ||
    rule.networkId !== networkId ||
    rule.privatePort !== port.privatePort ||
    rule.protocol !== port.protocol ||
    (!hasCidrs(rule, cidrs) && !canUpdateRuleLists(scene.view))
  );
}

/** Plans a new rule. With a list of its own, it is never open to others. */
export function toCreation(site: RuleSite): Step {
  const { scene, address, networkId, port, wanted, cidrs } = site;
  const change: Change = {
    kind: "createRule",
    name: port.name,
    description: wanted.description,
    addressId: address.id,
    networkId,
    publicPort: port.publicPort,
    privatePort: port.privatePort,
    protocol: port.protocol,
    algorithm: wanted.algorithm,
    ...(cidrs && { cidrs }),
  };
  const summary = `create rule ${port.protocol} ${port.publicPort} on ${address.ip}`;
  return toStep(scene, summary, change, networkId);
}

/** Plans the changes of a rule that can stay: name and description make a rule of version 1.x one of ours. */
export function planUpdate(site: RuleSite, rule: Rule): readonly Step[] {
  const { scene, port, wanted, cidrs } = site;
  const fields = {
    ...(rule.name !== port.name && { name: port.name }),
    ...(rule.description !== wanted.description && { description: wanted.description }),
    ...(rule.algorithm !== wanted.algorithm && { algorithm: wanted.algorithm }),
    ...(!hasCidrs(rule, cidrs) && { cidrs: cidrs ?? EVERYONE }),
  };
  const names = Object.keys(fields);
  if (names.length === 0) return [];
  const summary = `update ${names.join(", ")} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return [
    toStep(scene, summary, { kind: "updateRule", ruleId: rule.id, ...fields }, rule.networkId),
  ];
}

/** Plans the deletion of a rule. */
export function toDeletion(scene: Scene, { id, protocol, publicPort, ip, networkId }: Rule): Step {
  const summary = `delete rule ${protocol} ${publicPort} on ${ip}`;
  return toStep(scene, summary, { kind: "deleteRule", ruleId: id }, networkId);
}

function hasCidrs(rule: Rule, wanted: readonly string[] | undefined): boolean {
  return rule.cidrs !== undefined && isSame(toBlocks(rule.cidrs), wanted ?? EVERYONE);
}
