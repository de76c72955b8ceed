/**
 * The commands about stickiness policies of load-balancer rules.
 * @module
 */
import { ApiError, toInvalid } from "../../replies.ts";
import { applyRule, type LoadBalancerRule } from "../../world/load_balancing.ts";
import type { CloudStackState } from "../../world/state.ts";
import {
  readStoredParameters,
  toStoredParameters,
  type StickinessPolicy,
} from "../../world/stickiness.ts";
import { findNamed, needNamed, needText, toList } from "../call.ts";
import type { Call, Command, List, WantedJob } from "../call.ts";
import { checkOwner, failJob, needOwned } from "../owned.ts";
import { toOwner } from "../owner_reply.ts";
import { checkPolicy } from "./stickiness_checks.ts";

/** The commands. */
export const STICKINESS_COMMANDS: Readonly<Record<string, Command>> = {
  createLBStickinessPolicy: { kind: "create", run: createPolicy },
  deleteLBStickinessPolicy: { kind: "job", run: deletePolicy },
  listLBStickinessPolicies: { kind: "list", run: listPolicies },
};

const INSTANCE_TYPE = "LoadBalancerRule";

/** Makes a policy. Its job takes away the one that the rule had. */
function createPolicy(call: Call): WantedJob {
  const { parameters, state } = call;
  const name = needText(parameters, "name");
  const methodName = needText(parameters, "methodname");
  const rule = needOwned(call, "lbruleid", state.loadBalancerRules);
  const entries = parameters
    .entries("param")
    .map((one) => [one["name"] ?? "", one["value"]] as const);
  checkPolicy(rule, { methodName, entries }, state);
  const description = parameters.get("description");
  const policy: StickinessPolicy = {
    id: state.nextId("stickiness"),
    ruleId: rule.id,
    name,
    methodName,
    ...(description !== undefined && { description }),
    parameters: toStoredParameters(entries),
    isRevoked: false,
  };
  state.stickinessPolicies.set(policy.id, policy);
  return {
    instanceType: INSTANCE_TYPE,
    instanceId: policy.id,
    serialKey: `network/${rule.networkId}`,
    begin: () => {
      if (!state.stickinessPolicies.has(policy.id)) {
        throw new ApiError(530, "Failed to create stickiness policy");
      }
      for (const other of policiesOf(rule, state)) other.isRevoked = other !== policy;
    },
    run: () => {
      applyPolicies(rule, state);
      return { stickinesspolicies: toRuleReply(rule, [policy], state) };
    },
    undo: () => void state.stickinessPolicies.delete(policy.id),
  };
}

function deletePolicy(call: Call): WantedJob {
  const { parameters, state } = call;
  const policy = needNamed(parameters, "id", state.stickinessPolicies);
  const rule = needRule(policy, state);
  return {
    instanceType: INSTANCE_TYPE,
    instanceId: policy.id,
    serialKey: `network/${rule.networkId}`,
    begin: () => {
      if (!state.stickinessPolicies.has(policy.id)) {
        throw toInvalid(`Invalid Stickiness policy id value: ${policy.id}`);
      }
      failJob(() => checkOwner(call, rule.accountId, rule.id));
      policy.isRevoked = true;
    },
    run: () => {
      applyPolicies(rule, state);
      return { success: true };
    },
    undo: () => {
      policy.isRevoked = false;
    },
  };
}

/** The router gets the whole rule with its policies, so that what was only stored before reaches it now. */
function applyPolicies(rule: LoadBalancerRule, state: CloudStackState): void {
  if (state.loadBalancerRules.has(rule.id)) applyRule(rule, state.stickinessPolicies);
}

/** One entry for the rule that is asked for, with no policies inside if it has none. */
function listPolicies(call: Call): List {
  const { parameters, state } = call;
  const named = findNamed(parameters, "lbruleid", state.loadBalancerRules);
  const wanted = findNamed(parameters, "id", state.stickinessPolicies);
  const rule = wanted === undefined ? named : needRule(wanted, state);
  if (rule === undefined) {
    throw toInvalid("load balancer rule ID and stickiness policy ID can't be null");
  }
  if (named !== undefined && named !== rule) {
    throw toInvalid(`stickiness policy ID doesn't belong to lbId${named.id}`);
  }
  checkOwner(call, rule.accountId, rule.id);
  const policies = policiesOf(rule, state).filter((one) => wanted === undefined || wanted === one);
  return toList("stickinesspolicies", [rule], () => toRuleReply(rule, policies, state));
}

function needRule(
  { ruleId }: StickinessPolicy,
  { loadBalancerRules }: CloudStackState,
): LoadBalancerRule {
  const rule = loadBalancerRules.get(ruleId);
  if (rule === undefined) throw toInvalid(`Invalid Load balancer : ${ruleId}`);
  return rule;
}

function policiesOf({ id }: LoadBalancerRule, state: CloudStackState): StickinessPolicy[] {
  return [...state.stickinessPolicies.values()].filter(({ ruleId }) => ruleId === id);
}

function toRuleReply(
  { id, accountId }: LoadBalancerRule,
  policies: readonly StickinessPolicy[],
  state: CloudStackState,
): object {
  return {
    lbruleid: id,
    ...toOwner(accountId, state),
    stickinesspolicy: policies.map(toPolicyReply),
  };
}

function toPolicyReply(policy: StickinessPolicy): object {
  const { id, name, methodName, description, parameters, isRevoked } = policy;
  return {
    id,
    name,
    methodname: methodName,
    ...(description !== undefined && { description }),
    params: readStoredParameters(parameters),
    ...(isRevoked && { state: "Revoked" }),
    fordisplay: true,
  };
}
