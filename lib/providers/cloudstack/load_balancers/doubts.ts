/**
 * Whether a look may be about another CloudStack, in which nothing of a Service is absent for good. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import { parseRuleName, toLbName } from "./rule_names.ts";
import type { Rule, View } from "./view.ts";
import { toWaiting } from "./wanted/problems.ts";
import { isOfCluster } from "./words.ts";

const NOT_OURS =
  "CloudStack shows neither a VM of a Node nor a load balancer of this cluster, so it may be another CloudStack, " +
  "project or account: check api-url, project-id and the keys";

/** Whether a look shows a load balancer of this cluster: an address with its tag, or a rule of one of its Services. */
export function showsLoadBalancer(
  { addresses, rules }: Pick<View, "addresses" | "rules">,
  { clusterIds, lbNames }: { clusterIds: readonly string[]; lbNames: ReadonlySet<string> },
): boolean {
  return (
    addresses.values().some(({ tags }) => isOfCluster(tags, clusterIds)) ||
    rules.values().some((rule) => lbNames.has(findLbName(rule)))
  );
}

/**
 * Says why nothing may be done for a Service on the basis of a look, which may be about another CloudStack, or about
 * two that answer in turn. Without any Node, a Service that shows no sign of a load balancer need not wait.
 *
 * @returns A problem for which the Service waits; `undefined` if there is no doubt
 */
export function findDoubt(view: View, claim: LoadBalancerClaim): LoadBalancerProblem | undefined {
  const hasSign = claim.ingress.length > 0 || claim.record !== undefined;
  const lbName = toLbName(claim.owner.uid);
  const mustRecognize = hasSign || view.hasNoNodes !== true;
  if (mustRecognize && !isRecognized(view, lbName)) return toWaiting("NotKnown", NOT_OURS);
  const isLost = (rule: Rule): boolean =>
    !view.addresses.has(rule.addressId) && findLbName(rule) === lbName;
  const lost = view.rules.values().find(isLost);
  if (lost === undefined || view.unreadable.some(({ kind }) => kind === "address"))
    return undefined;
  const what = `CloudStack shows the rule ${lost.name} without its address ${lost.ip}`;
  return toWaiting("NotKnown", `${what}: Landfall waits until it shows both`);
}

/** What this process made since the look counts, too: CloudStack has confirmed it. */
function isRecognized(view: View, lbName: string): boolean {
  const { isOurCloud, clusterIds } = view;
  return isOurCloud || showsLoadBalancer(view, { clusterIds, lbNames: new Set([lbName]) });
}

function findLbName({ name }: Rule): string {
  return parseRuleName(name)?.lbName ?? "";
}
