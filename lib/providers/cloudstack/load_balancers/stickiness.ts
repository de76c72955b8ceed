/**
 * The stickiness policy of each rule: how it is planned, and changed.
 * @module
 */
import type { LoadBalancerProblem } from "../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../core/text/printable.ts";
import { isPolicyDescription, POLICY_DESCRIPTION, toWaiting } from "./words.ts";
import { isGoing, type Current, toStep } from "./current.ts";
import type { Change, ChangeOf, Step } from "./steps.ts";
import type { DesiredStickiness, Desired, DesiredPort } from "./desired.ts";
import type { Network, Rule, StickinessPolicy } from "./observation.ts";
import { POLICIES } from "../wire/objects.ts";
import { type Acting, send, toIndexed } from "./acting.ts";

/** Steps and problems of one part. */
export interface PartPlan {
  readonly steps: readonly Step[];
  readonly problems: readonly LoadBalancerProblem[];
}

const NOTHING: PartPlan = { steps: [], problems: [] };

/** Says why a network or the ports of a Service do not allow the stickiness that it asks for. */
export function checkStickiness(
  { stickiness, ports }: Desired,
  network: Network,
): readonly LoadBalancerProblem[] {
  if (stickiness === undefined || stickiness === "refused") return [];
  if (!ports.some((port) => isSticky(stickiness, port))) {
    const which =
      stickiness.method === "LbCookie"
        ? "no TCP port has appProtocol http"
        : "the Service has no TCP port";
    return [toWaiting("StickinessNotPossible", `${stickiness.method} does not fit: ${which}`)];
  }
  const where = `the network ${quote(network.name)} (${network.id})`;
  const method = network.stickiness?.find(({ name }) => name === stickiness.method);
  if (method === undefined) {
    return [toWaiting("StickinessNotPossible", `${where} does not offer ${stickiness.method}`)];
  }
  const unknown = [...stickiness.params.keys()].find((key) => !method.params.has(key));
  const missing = [...method.params].find(
    ([key, one]) => one.isRequired && !stickiness.params.has(key),
  );
  if (unknown !== undefined) {
    const message = `${stickiness.method} in ${where} has no parameter ${unknown}`;
    return [toWaiting("StickinessNotPossible", message)];
  }
  if (missing === undefined) return [];
  const message = `${stickiness.method} in ${where} needs the parameter ${missing[0]}`;
  return [toWaiting("StickinessNotPossible", message)];
}

/** Whether a port gets the stickiness: cookies need HTTP. */
export function isSticky(
  { method }: DesiredStickiness,
  { protocol, isHttp }: DesiredPort,
): boolean {
  return method === "LbCookie" ? isHttp : protocol !== "udp";
}

/**
 * Plans the policy of one rule. A new policy replaces the old one on the server, in one job. A policy that another
 * program or a user made stays: nothing is planned for the rule then.
 *
 * @param stickiness `refused`: what the Service asks for is not possible, so the old policy stays
 */
export function planStickiness(
  current: Current,
  rule: Rule,
  port: DesiredPort,
  stickiness: DesiredStickiness | "refused" | undefined,
): PartPlan {
  if (stickiness === "refused") return NOTHING;
  const desired = stickiness !== undefined && isSticky(stickiness, port) ? stickiness : undefined;
  const policies = current.cloud.policies.get(rule.id);
  const where = `rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  if (policies === undefined) {
    if (desired === undefined) return NOTHING;
    const message = `CloudStack does not show the stickiness policies of ${where}`;
    return { steps: [], problems: [toWaiting("NotKnown", message)] };
  }
  const own = policies.filter(({ description }) => isPolicyDescription(description));
  const foreign = policies.find((one) => !own.includes(one));
  const kept = own.find((one) => desired && isEqual(one, desired));
  const spare = own.filter((one) => one !== kept).map((one) => toDeletion(current, rule, one));
  if (desired === undefined || kept !== undefined) return { steps: spare, problems: [] };
  if (foreign !== undefined) {
    const message = `stickiness policy ${foreign.id} of ${where} is not of this Service: delete it`;
    return { steps: [], problems: [toWaiting("StickinessNotPossible", message)] };
  }
  // The server refuses a new policy while a rule has two.
  const surplus = own.length > 1 ? spare.slice(1) : [];
  return { steps: [...surplus, toCreation(current, rule, port, desired)], problems: [] };
}

function isEqual(policy: StickinessPolicy, { method, params }: DesiredStickiness): boolean {
  return (
    !isGoing(policy) &&
    policy.method === method &&
    policy.params.size === params.size &&
    [...params].every(([key, value]) => policy.params.get(key) === value)
  );
}

function toCreation(
  current: Current,
  rule: Rule,
  { name }: DesiredPort,
  stickiness: DesiredStickiness,
): Step {
  const { method, params } = stickiness;
  const change: Change = { kind: "createPolicy", ruleId: rule.id, name, method, params };
  const summary = `set stickiness ${method} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return toStep(current, summary, change, rule.networkId);
}

function toDeletion(current: Current, rule: Rule, { id, method }: StickinessPolicy): Step {
  const change: Change = { kind: "delete", what: "policy", id };
  const summary = `remove stickiness ${method} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return toStep(current, summary, change, rule.networkId);
}

/** Makes a policy. CloudStack replaces the one that the rule has. */
export async function createPolicy(
  { ruleId, name, method, params: desired }: ChangeOf<"createPolicy">,
  acting: Acting,
): Promise<void> {
  const params = {
    lbruleid: ruleId,
    name,
    methodname: method,
    description: POLICY_DESCRIPTION,
    ...toIndexed("param", "name", desired),
  };
  const { store } = acting;
  const { policies } = await send(acting, {
    command: "createLBStickinessPolicy",
    params,
    key: POLICIES.key,
    schema: POLICIES.schema,
  });
  const made = policies.find((one) => one.name === name);
  if (made === undefined || made.method !== method) return store.invalidate();
  store.setPolicies(ruleId, [made]);
}
