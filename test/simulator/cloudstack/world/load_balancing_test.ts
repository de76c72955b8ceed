import { describe, expect, test } from "bun:test";
import {
  applyRule,
  leaveRule,
  toNumber,
  type LoadBalancerRule,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";

function toRule(members: LoadBalancerRule["members"]): LoadBalancerRule {
  return {
    id: "r",
    name: "web",
    ipId: "i",
    networkId: "n",
    accountId: "a",
    publicPort: 80,
    privatePort: 30_080,
    algorithm: "source",
    state: "Add",
    members,
  };
}

const ONE = { vmId: "1", ip: "10.0.0.1", isRevoked: false };
const TWO = { vmId: "2", ip: "10.0.0.2", isRevoked: false };

describe("what a router runs of a rule", () => {
  test("applyRule() sends the rule as it is, without members that are taken away", () => {
    const rule = toRule([ONE, { ...TWO, isRevoked: true }]);
    applyRule(rule);
    expect(rule).toMatchObject({ state: "Active", members: [ONE] });
    expect(rule.applied).toEqual({
      algorithm: "source",
      protocol: "tcp",
      cidrList: undefined,
      privatePort: 30_080,
      backends: ["10.0.0.1"],
    });
    rule.members = [];
    applyRule(rule);
    expect([rule.state, rule.applied?.backends]).toEqual(["Add", []]);
  });

  test("leaveRule() sends a rule only if the machine was a member", () => {
    const rule = toRule([ONE, TWO]);
    leaveRule(rule, "3");
    expect(rule.applied).toBeUndefined();
    leaveRule(rule, "1");
    expect([rule.members, rule.applied?.backends]).toEqual([[TWO], ["10.0.0.2"]]);
  });

  test("toNumber() is the same for the same ID", () => {
    expect([toNumber("0010aa"), toNumber("ffff")]).toEqual([16, 65_535]);
  });
});
