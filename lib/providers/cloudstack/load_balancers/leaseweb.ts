/**
 * Recognizes the rules of Leaseweb's fork of the Go provider, which names them after the Service instead of its UID.
 * @module
 */
import type { LoadBalancerClaim } from "../../../cloud/capabilities/load_balancers.ts";
import type { Rule } from "./observation.ts";

/** `K8s_svc_<cluster>_<namespace>_<name>-<protocol>-<port>`. Only the name of the cluster may have underscores. */
const NAME = /^K8s_svc_.*_([^_]+)_([^_]+)-(?:tcp|udp|tcp-proxy)-([1-9]\d{0,4})$/s;

/** What says whose a rule is, beside its name: another cluster may have a Service of the same name. */
interface Evidence {
  /** Every Service, by the name of its load balancer. */
  readonly claims: ReadonlyMap<string, LoadBalancerClaim>;
  /** IDs of the VMs of Nodes. */
  readonly nodeVmIds: ReadonlySet<string>;
  readonly readMembers: (
    rules: readonly Rule[],
  ) => Promise<ReadonlyMap<string, ReadonlySet<string>>>;
}

/**
 * Gives rules of the fork the name that the in-tree provider would have given them, so that the plan renames them. A
 * rule is one of a Service if the status of the Service shows its address, or a Node of this cluster is behind it.
 */
export async function adoptNames(
  rules: readonly Rule[],
  { claims, nodeVmIds, readMembers }: Evidence,
): Promise<readonly Rule[]> {
  const named = findNamed(rules, claims);
  if (named.size === 0) return rules;
  const isShown = ({ ip }: Rule, { claim }: Named): boolean =>
    claim.ingress.some((one) => "ip" in one && one.ip === ip);
  const others = [...named].filter(([rule, one]) => !isShown(rule, one)).map(([rule]) => rule);
  const members = others.length === 0 ? new Map() : await readMembers(others);
  const isOurs = (rule: Rule, one: Named): boolean =>
    isShown(rule, one) || members.get(rule.id)?.isDisjointFrom(nodeVmIds) === false;
  return rules.map((rule) => {
    const one = named.get(rule);
    return one && isOurs(rule, one) ? { ...rule, name: one.name } : rule;
  });
}

interface Named {
  readonly claim: LoadBalancerClaim;
  readonly name: string;
}

function findNamed(rules: readonly Rule[], claims: Evidence["claims"]): ReadonlyMap<Rule, Named> {
  const found = new Map<Rule, Named>();
  let byName: ReadonlyMap<string, readonly [string, LoadBalancerClaim]> | undefined;
  for (const rule of rules) {
    const [, namespace, name, port] = NAME.exec(rule.name) ?? [];
    if (port === undefined) continue;
    byName ??= new Map(
      [...claims].map((entry) => [`${entry[1].owner.namespace}/${entry[1].owner.name}`, entry]),
    );
    const [lbName, claim] = byName.get(`${namespace}/${name}`) ?? [];
    if (claim !== undefined) found.set(rule, { claim, name: `${lbName}-${port}` });
  }
  return found;
}
