import { describe, expect, test } from "bun:test";
import {
  applyRule,
  leaveRule,
  toLoadBalancerRule,
  toNumber,
  toPortForwarding,
  type LoadBalancerRule,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { toStickinessPolicy } from "../../../../lib/simulator/cloudstack/world/stickiness.ts";

const IP = { id: "i", networkId: "n", accountId: "a" };

function toRule(members: LoadBalancerRule["members"]): LoadBalancerRule {
  return { ...toLoadBalancerRule({ ip: IP, name: "web", algorithm: "source" }), members };
}

const ONE = { vmId: "1", ip: "10.0.0.1", isRevoked: false };
const TWO = { vmId: "2", ip: "10.0.0.2", isRevoked: false };

describe("what a router runs of a rule", () => {
  test("applyRule() sends the rule as it is, without members that are taken away", () => {
    const rule = toRule([ONE, { ...TWO, isRevoked: true }]);
    applyRule(rule, new Map());
    expect(rule).toMatchObject({ state: "Active", members: [ONE] });
    expect(rule.applied).toEqual({
      algorithm: "source",
      protocol: "tcp",
      cidrList: undefined,
      privatePort: 30_080,
      backends: ["10.0.0.1"],
      stickiness: undefined,
    });
    rule.members = [];
    applyRule(rule, new Map());
    expect([rule.state, rule.applied?.backends]).toEqual(["Add", []]);
  });

  test("applyRule() sends the policy of the rule, and drops one that is taken away", () => {
    const rule = toRule([ONE]);
    const toPolicy = (ruleId: string, name: string, isRevoked: boolean) => ({
      ...toStickinessPolicy({ ruleId, name, parameters: { expire: "30m" } }),
      isRevoked,
    });
    const all = [
      toPolicy(rule.id, "old", true),
      toPolicy(rule.id, "new", false),
      toPolicy("other", "other", true),
    ];
    const policies = new Map(all.map((policy) => [policy.id, policy]));
    applyRule(rule, policies);
    expect(rule.applied?.stickiness).toBe("SourceBased expire=30m&");
    expect([...policies.values()].map(({ name }) => name)).toEqual(["new", "other"]);
  });

  test("leaveRule() sends a rule only if the machine was a member", () => {
    const rule = toRule([ONE, TWO]);
    leaveRule(rule, "3", new Map());
    expect(rule.applied).toBeUndefined();
    leaveRule(rule, "1", new Map());
    expect([rule.members, rule.applied?.backends]).toEqual([[TWO], ["10.0.0.2"]]);
  });

  test("toNumber() is the same for the same ID", () => {
    expect([toNumber("0010aa"), toNumber("ffff")]).toEqual([16, 65_535]);
  });
});

describe("rules that somebody else made", () => {
  test("toLoadBalancerRule() runs on the router if it has machines", () => {
    const vm = { id: "1", nics: [{ networkId: "m" }, { networkId: "n", ipAddress: "10.0.0.1" }] };
    const rule = toLoadBalancerRule({ ip: IP, name: "web", vms: [vm] });
    expect(rule).toMatchObject({
      ipId: "i",
      networkId: "n",
      accountId: "a",
      publicPort: 80,
      state: "Active",
      members: [ONE],
      applied: { backends: ["10.0.0.1"] },
    });
    const other = toLoadBalancerRule({ ip: IP, name: "web", publicPort: 81, protocol: "udp" });
    expect(other).toMatchObject({ state: "Add", protocol: "udp", members: [] });
    expect([other.id === rule.id, other.applied]).toEqual([false, undefined]);
    const apart = { id: "2", nics: [{ networkId: "m", ipAddress: "10.0.0.1" }] };
    expect(() => toLoadBalancerRule({ ip: IP, name: "web", vms: [apart] })).toThrow(RangeError);
  });

  test("toPortForwarding() keeps the ports, and a range as long on both sides", () => {
    const one = { ip: IP, vmId: "1", publicPort: 22 };
    expect(toPortForwarding(one)).toMatchObject({
      protocol: "tcp",
      publicEndPort: 22,
      privatePort: 22,
      privateEndPort: 22,
      networkId: "n",
    });
    const range = toPortForwarding({ ...one, publicEndPort: 30, privatePort: 1_000 });
    expect(range.privateEndPort).toBe(1_008);
  });
});
