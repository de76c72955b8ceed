import { describe, expect, test } from "bun:test";
import {
  changeMembers,
  dropById,
  putById,
  removeRule,
  renewAddress,
  type Tables,
  toTables,
} from "../../../../lib/providers/cloudstack/load_balancers/tables.ts";
import { byId, toAclItem, toAddress, toFirewallRule, toFound, toRule } from "./objects.ts";

const { networkId: _, ...UNBOUND } = toAddress("ip", { vpcId: "vpc" });

/** The tier that an address of a VPC is bound to after its rules changed. */
function findTier(over: Parameters<typeof toFound>[0], networkId?: string): string | undefined {
  const address = { ...UNBOUND, ...(networkId !== undefined && { networkId }) };
  const tables = toTables(toFound({ addresses: byId(address), ...over }));
  renewAddress(tables, "ip");
  return tables.addresses.get("ip")?.networkId;
}

describe("renewAddress()", () => {
  const rules = byId(toRule("rule", { networkId: "tier" }));

  test.each<[string, string | undefined, string | undefined]>([
    ["a rule binds", findTier({ rules }), "tier"],
    ["a rule leaves", findTier({ rules }, "bound"), "bound"],
    [
      "a firewall rule keeps",
      findTier({ firewallRules: byId(toFirewallRule("fw")) }, "bound"),
      "bound",
    ],
    [
      "a rule of another address frees",
      findTier({ rules: byId(toRule("r", { addressId: "x" })) }, "bound"),
      undefined,
    ],
    ["nothing frees", findTier({}, "bound"), undefined],
  ])("%s the address of a VPC to its tier", (_what, found, expected) => {
    expect(found).toBe(expected);
  });

  test("leaves an address that is not known, and one of an isolated network", () => {
    const addresses = byId(toAddress("ip"));
    const tables = toTables(toFound({ addresses }));
    renewAddress(tables, "unknown");
    renewAddress(tables, "ip");
    expect(tables.addresses.share()).toBe(addresses);
  });
});

test("removeRule() takes members and policies away", () => {
  const rule = toRule("rule");
  const members = new Map([["rule", new Set(["vm"])]]);
  const tables = toTables(
    toFound({ rules: byId(rule), members, policies: new Map([["rule", []]]) }),
  );
  removeRule(tables, rule);
  expect([tables.rules, tables.members, tables.policies].map((one) => one.has("rule"))).toEqual([
    false,
    false,
    false,
  ]);
});

test.each([
  ["Active", "Add"],
  ["Revoke", "Revoke"],
])("changeMembers() of a rule that is %s makes it %s without members", (before, after) => {
  const rules = byId(toRule("rule", { state: before }));
  const tables = toTables(toFound({ rules, members: new Map([["rule", new Set(["vm"])]]) }));
  changeMembers(tables, "rule", () => new Set());
  expect(tables.rules.get("rule")?.state).toBe(after);
});

test("putById() and dropById() change lists that are known", () => {
  const tables: Tables = toTables(toFound({ aclItems: new Map([["acl", [toAclItem("a")]]]) }));
  putById(tables.aclItems, "acl", toAclItem("a", { number: 2 }));
  putById(tables.aclItems, "acl", toAclItem("b"));
  putById(tables.aclItems, "unknown", toAclItem("c"));
  dropById(tables.aclItems, "unknown", "c");
  expect([...tables.aclItems.share()]).toEqual([
    ["acl", [toAclItem("a", { number: 2 }), toAclItem("b")]],
  ]);
  dropById(tables.aclItems, "acl", "a");
  expect(tables.aclItems.get("acl")).toEqual([toAclItem("b")]);
});
