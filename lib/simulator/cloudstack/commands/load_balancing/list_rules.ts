/**
 * `listLoadBalancerRules` and `listLoadBalancerRuleInstances`.
 * @module
 */
import { toScope } from "../../access/scope.ts";
import type { LoadBalancerRule } from "../../world/load_balancing.ts";
import type { Vm } from "../../world/records.ts";
import { findNamed, isSame, matches, toList, type Call, type List } from "../call.ts";
import { needOwned } from "../owned.ts";
import { createTagFilter } from "../tag_reply.ts";
import { toVmReply, toVmView } from "../vm_reply.ts";
import { toRuleReply } from "./rule_reply.ts";

/** Members in these states are left out of the list of a rule's members. */
const HIDDEN: ReadonlySet<string> = new Set(["Destroyed", "Expunging", "Error", "Unknown"]);

/** Lists rules; `keyword` is any part of the name or the description. */
export function listRules({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const isTagged = createTagFilter(parameters, state);
  const wanted = findNamed(parameters, "id", state.loadBalancerRules);
  const ip = findNamed(parameters, "publicipid", state.publicIps);
  const network = findNamed(parameters, "networkid", state.networks);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const vm = findNamed(parameters, "virtualmachineid", state.vms);
  const rules = [...state.loadBalancerRules.values()].filter(
    (rule) =>
      isOwned(rule.accountId) &&
      isTagged(rule.id) &&
      (wanted === undefined || wanted === rule) &&
      (ip === undefined || ip.id === rule.ipId) &&
      (network === undefined || network.id === rule.networkId) &&
      (zone === undefined || zone.id === state.publicIps.get(rule.ipId)?.zoneId) &&
      (vm === undefined || rule.members.some(({ vmId }) => vmId === vm.id)) &&
      isSame(parameters.get("name"), rule.name) &&
      matches(parameters, rule.name, rule.description ?? ""),
  );
  return toList("loadbalancerrule", rules, (rule) => toRuleReply(rule, state));
}

/** Lists the members of a rule, those that a job takes away included. */
export function listRuleInstances(call: Call): List {
  const { caller, parameters, state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  // Machines that are not members are never found, as on the server.
  const isApplied = parameters.get("applied")?.toLowerCase() !== "false";
  const view = toVmView(state, caller.account, []);
  const vms = isApplied ? listMembers(call, rule) : [];
  return toList("loadbalancerruleinstance", vms, (vm) => toVmReply(vm, view));
}

function listMembers({ state }: Call, { members }: LoadBalancerRule): Vm[] {
  const ids = new Set(members.map(({ vmId }) => vmId));
  return [...state.vms.values()].filter((vm) => ids.has(vm.id) && !HIDDEN.has(vm.state));
}
