/**
 * The commands about stickiness policies of load-balancer rules, and which of them a network's router takes.
 * @module
 */
import { ApiError, toInvalid } from "../replies.ts";
import {
  applyRule,
  HAPROXY_METHODS,
  type LoadBalancerRule,
  readStoredParameters,
  type StickinessMethod,
  type StickinessPolicy,
  toStoredParameters,
} from "../world/load_balancing.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  checkOwner,
  type Command,
  failJob,
  findNamed,
  type List,
  needNamed,
  needOwned,
  needText,
  toList,
  toOwner,
  type WantedJob,
} from "./call.ts";

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

/** A policy that is asked for. */
interface WantedPolicy {
  readonly methodName: string;
  readonly entries: readonly (readonly [name: string, value: string | undefined])[];
}

/** A rule can have two policies for the time of a job only. */
const POLICIES_MAX = 1;

/** Refuses a policy. @throws {ApiError} 431 */
function checkPolicy(
  rule: LoadBalancerRule,
  { methodName, entries }: WantedPolicy,
  state: CloudStackState,
): void {
  const { id, networkId } = rule;
  if (rule.state === "Revoke") throw toInvalid(`Failed: LB rule: ${id} is in deleting state: `);
  const methods = state.networks.get(networkId)?.stickiness ?? HAPROXY_METHODS;
  if (methods.length === 0) {
    throw toInvalid(`Failed:  No Stickiness method available for LB rule:${id}`);
  }
  const method = methods.find(({ name }) => isSameWord(name, methodName));
  if (method === undefined) {
    throw toInvalid(`Failed to match Stickiness method name for LB rule:${id}`);
  }
  checkNames(method, entries);
  const policies = [...state.stickinessPolicies.values()].filter(({ ruleId }) => ruleId === id);
  if (policies.filter(({ isRevoked }) => !isRevoked).length > POLICIES_MAX) {
    throw toInvalid(`Failed to create Stickiness policy: Already two policies attached ${id}`);
  }
  if (rule.protocol === "udp") {
    throw toInvalid(`Failed to create Stickiness policy: Validation Failed ${id}`);
  }
  checkValues(id, method, entries);
}

function checkNames({ parameters }: StickinessMethod, entries: WantedPolicy["entries"]): void {
  for (const [name, value] of entries) {
    const known = parameters.find((one) => isSameWord(one.name, name));
    if (known === undefined) {
      throw toInvalid(`Failed : Stickiness policy does not support param name :${name}`);
    }
    if (!known.isFlag && value === undefined) {
      throw toInvalid(`Failed : Value expected for the Param :${known.name}`);
    }
  }
}

/** HAProxy wants units with times and sizes; values of cookies are not looked at here. */
function checkValues(
  ruleId: string,
  method: StickinessMethod,
  entries: WantedPolicy["entries"],
): void {
  const stored = readStoredParameters(toStoredParameters(entries));
  const check = (name: string, form: RegExp, what: string): void => {
    const found = Object.entries(stored).find(([one]) => isSameWord(one, name));
    if (found === undefined || form.test(found[1])) return;
    throw toInvalid(
      `Failed LB in validation rule id: ${ruleId} Cause: ${name} is not ${what}: ${found[1]}`,
    );
  };
  if (method.name !== "SourceBased") return;
  check("expire", /^[+-]?\d+[dhms]$/, "in timeformat");
  check("tablesize", /^[+-]?\d+[kmg]$/, "in size format");
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
