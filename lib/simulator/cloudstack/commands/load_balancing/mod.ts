/**
 * The commands about load-balancer rules and their members.
 * @module
 */
import type { Command } from "../call.ts";
import { assign, remove } from "./change_members.ts";
import { deleteRule, updateRule } from "./change_rule.ts";
import { createRule } from "./create_rule.ts";
import { listRuleInstances, listRules } from "./list_rules.ts";

/** The commands. */
export const LOAD_BALANCING_COMMANDS: Readonly<Record<string, Command>> = {
  listLoadBalancerRules: { kind: "list", run: listRules },
  listLoadBalancerRuleInstances: { kind: "list", run: listRuleInstances },
  createLoadBalancerRule: { kind: "create", run: createRule },
  updateLoadBalancerRule: { kind: "job", run: updateRule },
  deleteLoadBalancerRule: { kind: "job", run: deleteRule },
  assignToLoadBalancerRule: { kind: "job", run: assign },
  removeFromLoadBalancerRule: { kind: "job", run: remove },
};
