import { describe, expect, test } from "bun:test";
import {
  checkPolicy,
  type WantedPolicy,
} from "../../../../../lib/simulator/cloudstack/commands/rules/stickiness_checks.ts";
import type { LoadBalancerRule } from "../../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { toNetwork } from "../../../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";
import {
  toStickinessPolicy,
  type StickinessMethod,
} from "../../../../../lib/simulator/cloudstack/world/stickiness.ts";

const PIN: StickinessMethod = {
  name: "Pin",
  parameters: [{ name: "to", isFlag: false, isRequired: true }],
};
const haproxy = toNetwork({ name: "haproxy", zoneId: "z", accountId: "a" });
const none = toNetwork({ name: "none", zoneId: "z", accountId: "a", stickiness: [] });
const own = toNetwork({ name: "own", zoneId: "z", accountId: "a", stickiness: [PIN] });
const networks = [haproxy, none, own];
const RULE: LoadBalancerRule = {
  id: "rule",
  name: "web",
  ipId: "ip",
  networkId: haproxy.id,
  accountId: "a",
  publicPort: 80,
  privatePort: 30_080,
  algorithm: "roundrobin",
  state: "Active",
  members: [],
};
const state = new CloudStackState({ networks });

const toPolicy = (methodName: string, entries: WantedPolicy["entries"] = []): WantedPolicy => ({
  methodName,
  entries,
});

describe("checkPolicy()", () => {
  test.each<[string, WantedPolicy["entries"]]>([
    ["LbCookie", []],
    [
      "lbcookie",
      [
        ["cookie-name", "lb"],
        ["mode", "anything"],
        ["Nocache", undefined],
      ],
    ],
    [
      "SourceBased",
      [
        ["tablesize", "200k"],
        ["expire", "30m"],
      ],
    ],
    [
      "AppCookie",
      [
        ["length", "52"],
        ["holdtime", "3"],
        ["prefix", undefined],
      ],
    ],
  ])("takes %s with %j", (methodName, entries) => {
    expect(() => checkPolicy(RULE, toPolicy(methodName, entries), state)).not.toThrow();
  });

  test.each<[string, WantedPolicy["entries"], string]>([
    ["Cookie", [], "match Stickiness method name"],
    ["SourceBased", [["cookie-name", "lb"]], "does not support param name :cookie-name"],
    ["LbCookie", [["mode", undefined]], "Value expected for the Param :mode"],
    ["SourceBased", [["tablesize", "200"]], "tablesize is not in size format: 200"],
    ["SourceBased", [["expire", "soon"]], "expire is not in timeformat: soon"],
    ["AppCookie", [["length", "5k"]], "length is not a number: 5k"],
    ["AppCookie", [["holdtime", "3w"]], "holdtime is not in timeformat: 3w"],
  ])("refuses %s with %j", (methodName, entries, text) => {
    expect(() => checkPolicy(RULE, toPolicy(methodName, entries), state)).toThrow(text);
  });

  test("asks the network what it knows", () => {
    const at = (networkId: string, policy: WantedPolicy) => () =>
      checkPolicy({ ...RULE, networkId }, policy, state);
    expect(at(none.id, toPolicy("LbCookie"))).toThrow("No Stickiness method available");
    expect(at(own.id, toPolicy("LbCookie"))).toThrow("match Stickiness method name");
    expect(at(own.id, toPolicy("Pin"))).toThrow("Param :to");
    expect(at(own.id, toPolicy("Pin", [["to", "here"]]))).not.toThrow();
  });

  test("refuses a rule that is deleted, one for UDP, and a third policy", () => {
    const policy = toPolicy("SourceBased");
    expect(() => checkPolicy({ ...RULE, state: "Revoke" }, policy, state)).toThrow("deleting");
    expect(() => checkPolicy({ ...RULE, protocol: "udp" }, policy, state)).toThrow("Validation");
    const two = ["one", "two"].map((name) => toStickinessPolicy({ ruleId: RULE.id, name }));
    const at = (count: number) => () =>
      checkPolicy(
        RULE,
        policy,
        new CloudStackState({ networks, stickinessPolicies: two.slice(0, count) }),
      );
    expect(at(1)).not.toThrow();
    expect(at(2)).toThrow("Already two policies attached");
  });
});
