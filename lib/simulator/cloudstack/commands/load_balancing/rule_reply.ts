/**
 * A load-balancer rule as the API shows it.
 * @module
 */
import type { LoadBalancerRule } from "../../world/load_balancing.ts";
import type { CloudStackState } from "../../world/state.ts";
import { toTagsReply } from "../tag_reply.ts";
import { toOwner } from "../owner_reply.ts";

/** Shows a rule. Its ports are text. */
export function toRuleReply(rule: LoadBalancerRule, state: CloudStackState): object {
  const ip = state.publicIps.get(rule.ipId);
  return {
    id: rule.id,
    name: rule.name,
    ...(rule.description !== undefined && { description: rule.description }),
    publicipid: rule.ipId,
    publicip: ip?.address,
    publicport: String(rule.publicPort),
    privateport: String(rule.privatePort),
    algorithm: rule.algorithm,
    cidrlist: rule.cidrList ?? "",
    ...toOwner(rule.accountId, state),
    state: rule.state,
    zoneid: ip?.zoneId,
    zonename: state.zones.get(ip?.zoneId ?? "")?.name,
    ...(rule.protocol !== undefined && { protocol: rule.protocol }),
    networkid: rule.networkId,
    fordisplay: true,
    tags: toTagsReply(state, rule.id),
  };
}
