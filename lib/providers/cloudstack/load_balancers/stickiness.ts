/**
 * The stickiness policy of each rule: how it is planned, and changed.
 * @module
 */
import type { LoadBalancerProblem } from "../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../core/text/printable.ts";
import { isPolicyDescription, POLICY_DESCRIPTION, toWaiting } from "./words.ts";
import { isGoing, type Scene, toStep } from "./scene.ts";
import type { Change, ChangeOf, Step } from "./steps.ts";
import type { StickinessWish, Desired, DesiredPort } from "./desired.ts";
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
  { stickiness: wish, ports }: Desired,
  network: Network,
): readonly LoadBalancerProblem[] {
  if (wish === undefined || wish === "refused") return [];
  if (!ports.some((port) => isSticky(wish, port))) {
    const which =
      wish.method === "LbCookie"
        ? "no TCP port has appProtocol http"
        : "the Service has no TCP port";
    return [toWaiting("StickinessNotPossible", `${wish.method} does not fit: ${which}`)];
  }
  const where = `the network ${quote(network.name)} (${network.id})`;
  const method = network.stickiness?.find(({ name }) => name === wish.method);
  if (method === undefined) {
    return [toWaiting("StickinessNotPossible", `${where} does not offer ${wish.method}`)];
  }
  const unknown = [...wish.params.keys()].find((key) => !method.params.has(key));
  const missing = [...method.params].find(([key, one]) => one.isRequired && !wish.params.has(key));
  if (unknown !== undefined) {
    const message = `${wish.method} in ${where} has no parameter ${unknown}`;
    return [toWaiting("StickinessNotPossible", message)];
  }
  if (missing === undefined) return [];
  const message = `${wish.method} in ${where} needs the parameter ${missing[0]}`;
  return [toWaiting("StickinessNotPossible", message)];
}

/** Whether a port gets the stickiness: cookies need HTTP. */
export function isSticky({ method }: StickinessWish, { protocol, isHttp }: DesiredPort): boolean {
  return method === "LbCookie" ? isHttp : protocol !== "udp";
}

/**
 * Plans the policy of one rule. A new policy replaces the old one on the server, in one job. A policy that another
 * program or a user made stays: nothing is planned for the rule then.
 *
 * @param wish `refused`: what the Service asks for is not possible, so the old policy stays
 */
export function planStickiness(
  scene: Scene,
  rule: Rule,
  port: DesiredPort,
  wish: StickinessWish | "refused" | undefined,
): PartPlan {
  if (wish === "refused") return NOTHING;
  const wanted = wish !== undefined && isSticky(wish, port) ? wish : undefined;
  const policies = scene.view.policies.get(rule.id);
  const where = `rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  if (policies === undefined) {
    if (wanted === undefined) return NOTHING;
    const message = `CloudStack does not show the stickiness policies of ${where}`;
    return { steps: [], problems: [toWaiting("NotKnown", message)] };
  }
  const own = policies.filter(({ description }) => isPolicyDescription(description));
  const foreign = policies.find((one) => !own.includes(one));
  const kept = own.find((one) => wanted && isEqual(one, wanted));
  const spare = own.filter((one) => one !== kept).map((one) => toDeletion(scene, rule, one));
  if (wanted === undefined || kept !== undefined) return { steps: spare, problems: [] };
  if (foreign !== undefined) {
    const message = `stickiness policy ${foreign.id} of ${where} is not of this Service: delete it`;
    return { steps: [], problems: [toWaiting("StickinessNotPossible", message)] };
  }
  // The server refuses a new policy while a rule has two.
  const surplus = own.length > 1 ? spare.slice(1) : [];
  return { steps: [...surplus, toCreation(scene, rule, port, wanted)], problems: [] };
}

function isEqual(policy: StickinessPolicy, { method, params }: StickinessWish): boolean {
  return (
    !isGoing(policy) &&
    policy.method === method &&
    policy.params.size === params.size &&
    [...params].every(([key, value]) => policy.params.get(key) === value)
  );
}

function toCreation(scene: Scene, rule: Rule, { name }: DesiredPort, wish: StickinessWish): Step {
  const { method, params } = wish;
  const change: Change = { kind: "createPolicy", ruleId: rule.id, name, method, params };
  const summary = `set stickiness ${method} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return toStep(scene, summary, change, rule.networkId);
}

function toDeletion(scene: Scene, rule: Rule, { id, method }: StickinessPolicy): Step {
  const change: Change = { kind: "delete", what: "policy", id };
  const summary = `remove stickiness ${method} of rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return toStep(scene, summary, change, rule.networkId);
}

/** Makes a policy. CloudStack replaces the one that the rule has. */
export async function createPolicy(
  { ruleId, name, method, params: wanted }: ChangeOf<"createPolicy">,
  acting: Acting,
): Promise<void> {
  const params = {
    lbruleid: ruleId,
    name,
    methodname: method,
    description: POLICY_DESCRIPTION,
    ...toIndexed("param", "name", wanted),
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
