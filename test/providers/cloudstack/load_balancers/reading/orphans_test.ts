import { expect, test } from "bun:test";
import { findOrphans } from "../../../../../lib/providers/cloudstack/load_balancers/reading/orphans.ts";
import { createCloud, LB_NAME } from "../cloud/services.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";

/** An address with a rule of the Service for port 80, its firewall rule, and one beside it. */
function setUp(ruleName = `${LB_NAME}-tcp-80`): CloudModel {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  cloud.addRule({ id: "r-80", name: ruleName, addressId, networkId: "net-1" });
  cloud.addFirewallRule({ id: "f-80", addressId });
  cloud.addFirewallRule({ id: "f-80-udp", addressId, protocol: "udp" });
  cloud.addFirewallRule({ id: "f-range", addressId, endPort: 81 });
  cloud.addFirewallRule({ id: "f-22", addressId, startPort: 22, endPort: 22 });
  return cloud;
}

test("a firewall rule whose load-balancer rule is gone since the last look is an orphan", () => {
  const cloud = setUp();
  const before = cloud.view();
  expect([...findOrphans(before, before)]).toEqual([]);
  cloud.removeRule("r-80");
  const after = cloud.view();
  expect([...findOrphans(before, after)]).toEqual([["f-80", LB_NAME]]);
  expect([...findOrphans(undefined, after)]).toEqual([]);
});

test("an orphan stays one in later looks, until it goes or has a load-balancer rule again", () => {
  const cloud = setUp();
  const [rule] = cloud.rules.values();
  if (rule === undefined) throw new Error("no rule");
  const orphans = new Map([["f-80", LB_NAME]]);
  cloud.removeRule("r-80");
  const before = { ...cloud.view(), orphans };
  expect(findOrphans(before, cloud.view())).toEqual(orphans);
  cloud.addRule(rule);
  expect([...findOrphans(before, cloud.view())]).toEqual([]);
  cloud.removeRule("r-80");
  cloud.firewallRules.delete("f-80");
  expect([...findOrphans(before, cloud.view())]).toEqual([]);
});

test("a firewall rule beside a rule of others, or that was not there, is no orphan", () => {
  const cloud = setUp("theirs");
  const before = cloud.view();
  cloud.removeRule("r-80");
  expect([...findOrphans(before, cloud.view())]).toEqual([]);
  const other = setUp();
  other.firewallRules.delete("f-80");
  const earlier = other.view();
  other.removeRule("r-80");
  other.addFirewallRule({ id: "f-80", addressId: [...other.addresses.keys()][0] ?? "" });
  expect([...findOrphans(earlier, other.view())]).toEqual([]);
});
