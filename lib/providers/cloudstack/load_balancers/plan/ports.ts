/**
 * Plans one port of a Service: its rule, who may reach it, its backends and its stickiness. Pure.
 * @module
 */
import type {
  LoadBalancerBackend,
  LoadBalancerProblem,
} from "../../../../cloud/capabilities/load_balancers.ts";
import { planBackends } from "./backends.ts";
import type { GateSite } from "../clients/firewall.ts";
import { type Gate, needsRuleList, planGate, toNoRuleLists } from "../clients/gate.ts";
import { hasRuleLists } from "../clients/versions.ts";
import { describeOwner, findOwner } from "../reading/inheritance.ts";
import { isWaiting, toWaiting } from "../wanted/problems.ts";
import { listRulesOn } from "../reading/on_addresses.ts";
import { planRemoval } from "./removal.ts";
import { mustReplace, planUpdate, type RuleSite, toCreation } from "./rules.ts";
import { inPart, isNameOf, type Scene, toPart } from "./scene.ts";
import type { PartPlan } from "./stickiness.ts";
import type { Step } from "../steps.ts";
import { planStickiness } from "./stickiness.ts";
import type { AclItem, Network, PublicAddress, Rule } from "../view.ts";
import type { Wanted, WantedPort } from "../wanted/wanted.ts";

/** Where the ports of a Service are to be. */
export interface Site {
  readonly scene: Scene;
  readonly wanted: Wanted;
  readonly address: PublicAddress;
  readonly network: Network;
  readonly gate: Gate;
  readonly backends: readonly LoadBalancerBackend[];
  /** Whether the address is the Service's own. */
  readonly isOwn: boolean;
  /** Whether an ACL item is of a port that the Service asks for. */
  readonly isNeeded: (item: AclItem) => boolean;
}

/** The plan of a port. */
export interface PortPlan extends PartPlan {
  /** What keeps the rule that is there useful, and clients out of it. Comes before `steps` of any port. */
  readonly keeping: readonly Step[];
}

/**
 * Plans a port.
 *
 * Clients that may not connect must never get in, not even between two steps. A new rule is out of reach until the
 * firewall or the ACL lets clients in; where neither can restrict them, it is made with a list of its own. A rule that
 * is there is changed after the firewall and the ACL, which only ever get narrower than they were, or as asked.
 */
export function planPort(site: Site, port: WantedPort): PortPlan {
  const { scene, address } = site;
  const rules = listRulesOn(scene.view, address.id, port.publicPort);
  const rule = rules.find(({ name }) => isNameOf(scene.lbName, name));
  const foreign = rules.find(({ name }) => !isNameOf(scene.lbName, name));
  if (rule === undefined && foreign !== undefined) {
    return { keeping: [], steps: [], problems: [toPortInUse(scene, port, foreign)] };
  }
  return planRule(site, port, rule);
}

function planRule(site: Site, port: WantedPort, rule: Rule | undefined): PortPlan {
  const { scene, wanted, address, network, gate, backends, isOwn } = site;
  const gateSite: GateSite = {
    scene,
    address,
    port,
    rule,
    isOwn,
    networkId: network.id,
    sources: wanted.sources,
  };
  const needsList = needsRuleList(gate, gateSite);
  const canHaveList = hasRuleLists(scene.view);
  if (needsList && !canHaveList) {
    const where = `port ${port.ipProtocol} ${port.publicPort} on ${address.ip}`;
    const keeping = rule === undefined ? [] : planBackends(scene, rule, backends);
    return { keeping, steps: [], problems: [toNoRuleLists(where)] };
  }
  const cidrs = needsList ? wanted.sources : canHaveList ? wanted.ruleCidrs : undefined;
  const ruleSite: RuleSite = { scene, address, networkId: network.id, port, wanted, cidrs };
  const { before, after, problems } = planGate(gate, gateSite);
  const part = toPart({ addressId: address.id, publicPort: port.publicPort });
  if (rule === undefined) {
    const steps = isWaiting(problems) ? [] : [...before, toCreation(ruleSite)];
    return { keeping: [], steps: inPart(part, steps), problems };
  }
  if (mustReplace(ruleSite, rule)) {
    const removal = planRemoval(scene, rule, site.isNeeded);
    const steps = inPart(part, [...before, ...removal, toCreation(ruleSite)]);
    return { keeping: [], steps, problems };
  }
  const stickiness = planStickiness(scene, rule, port, wanted.stickiness);
  return {
    keeping: [...inPart(part, [...before, ...after]), ...planBackends(scene, rule, backends)],
    steps: inPart(part, [...planUpdate(ruleSite, rule), ...stickiness.steps]),
    problems: [...problems, ...checkMembers(scene, rule), ...stickiness.problems],
  };
}

function checkMembers({ view }: Scene, rule: Rule): readonly LoadBalancerProblem[] {
  if (view.members.has(rule.id)) return [];
  const where = `rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return [toWaiting("NotKnown", `CloudStack does not show the backends of ${where}`)];
}

function toPortInUse(
  { view }: Scene,
  { ipProtocol, publicPort }: WantedPort,
  rule: Rule,
): LoadBalancerProblem {
  const { name, id, ip } = rule;
  const owner = findOwner(view, rule);
  if (owner !== undefined) {
    const use = `${describeOwner(owner)} uses port ${publicPort} of ${ip}`;
    const other = `another port than ${ipProtocol} ${publicPort}, or another address`;
    return toWaiting("PortInUse", `${use}: use ${other}`);
  }
  const what = `port ${publicPort} of ${ip} has the load-balancer rule ${name} (${id})`;
  const advice = `which is not of this Service: delete it, or use another port than ${ipProtocol} ${publicPort}`;
  return toWaiting("PortInUse", `${what}, ${advice}`);
}
