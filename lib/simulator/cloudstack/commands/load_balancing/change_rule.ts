/**
 * `updateLoadBalancerRule` and `deleteLoadBalancerRule`.
 * @module
 */
import { toInvalid } from "../../replies.ts";
import { isSince } from "../../settings.ts";
import { dropRule } from "../../world/addresses.ts";
import { applyRule, type LoadBalancerRule } from "../../world/load_balancing.ts";
import type { Network } from "../../world/records.ts";
import type { Call, WantedJob } from "../call.ts";
import { needOwned } from "../owned.ts";
import { ALGORITHMS, isBalanced, isSource } from "./create_rule.ts";
import { toRuleReply } from "./rule_reply.ts";

/**
 * Changes a rule. The router gets the rule only if the algorithm or the sources change: another protocol or name is
 * stored, and not sent. The change stays if the router does not take it, and so does the state `Add`.
 */
export function updateRule(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  let isSent = false;
  const job = toRuleJob(rule, () => {
    // The answer has the state from before the router took it.
    const reply = toRuleReply(rule, state);
    if (isSent && state.loadBalancerRules.has(rule.id)) applyRule(rule, state.stickinessPolicies);
    return { loadbalancer: reply };
  });
  return {
    ...job,
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Unable to find lb rule by id=${rule.id}`);
      }
      const { algorithm, cidrList } = rule;
      const changes = readChanges(call);
      checkBalancer(changes, state.networks.get(rule.networkId));
      Object.assign(rule, changes);
      isSent = rule.algorithm !== algorithm || rule.cidrList !== cidrList;
      if (isSent) rule.state = "Add";
    },
  };
}

/** Deletes a rule. An address of a VPC whose last rule it was leads nowhere from then on. */
export function deleteRule(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const setRevoked = (isRevoked: boolean): void => {
    for (const member of rule.members) member.isRevoked = isRevoked;
  };
  let before = rule.state;
  const job = toRuleJob(rule, () => {
    dropRule(state, rule.id);
    return { success: true };
  });
  return {
    ...job,
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Unable to find load balancer rule ${rule.id}`);
      }
      before = rule.state;
      rule.state = "Revoke";
      setRevoked(true);
    },
    undo: () => {
      rule.state = before;
      setRevoked(false);
    },
  };
}

function toRuleJob({ id, networkId }: LoadBalancerRule, run: WantedJob["run"]): WantedJob {
  const serialKey = `network/${networkId}`;
  return { instanceType: "FirewallRule", instanceId: id, serialKey, run };
}

function checkBalancer({ protocol }: Changes, network: Network | undefined): void {
  if (network !== undefined && !isBalanced(network, protocol)) {
    throw toInvalid("Modifications in lb rule are not supported.");
  }
}

type Changes = Partial<
  Pick<LoadBalancerRule, "name" | "description" | "algorithm" | "protocol" | "cidrList">
>;

/** What the request changes; before 4.22 the server does not know the parameter for sources. */
function readChanges({ parameters, settings }: Call): Changes {
  const [name, description] = [parameters.get("name"), parameters.get("description")];
  const [algorithm, protocol] = [parameters.get("algorithm"), parameters.get("protocol")];
  const cidrs = isSince(settings, "4.22") ? parameters.list("cidrlist") : [];
  if (algorithm !== undefined && !ALGORITHMS.has(algorithm)) {
    throw toInvalid(`Invalid algorithm: ${algorithm}`);
  }
  if (cidrs.some((cidr) => !isSource(cidr))) {
    throw toInvalid(`Invalid CIDR list: ${cidrs.join(",")}`);
  }
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(algorithm !== undefined && { algorithm }),
    ...(protocol !== undefined && { protocol }),
    ...(cidrs.length > 0 && { cidrList: cidrs.join(",") }),
  };
}
