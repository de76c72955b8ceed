import { expect, test } from "bun:test";
import {
  DEFAULT_ALLOW,
  DEFAULT_DENY,
  DEFAULT_ITEMS,
  isDefault,
  toAclItem,
  toAclList,
  toVpc,
} from "../../../../lib/simulator/cloudstack/world/vpcs.ts";

const vpc = toVpc("k8s", "zone", "account");
const list = toAclList("web", vpc);

test("the two lists that are always there allow or deny everything, both ways", () => {
  const rows = DEFAULT_ITEMS.map((item) => [
    item.listId === DEFAULT_ALLOW.id ? "allow" : "deny",
    item.number,
    item.trafficType,
    item.action,
    item.protocol,
  ]);
  expect(rows).toEqual([
    ["allow", 1, "Ingress", "Allow", "all"],
    ["allow", 2, "Egress", "Allow", "all"],
    ["deny", 1, "Ingress", "Deny", "all"],
    ["deny", 2, "Egress", "Deny", "all"],
  ]);
  expect([isDefault(DEFAULT_ALLOW), isDefault({ ...DEFAULT_DENY }), isDefault(list)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([DEFAULT_ALLOW.name, DEFAULT_ALLOW.vpcId]).toEqual(["default_allow", undefined]);
});

test("toVpc() and toAclList() have the same IDs for the same names", () => {
  expect(toVpc("k8s", "zone", "account")).toEqual(vpc);
  expect([toAclList("web", vpc).id === list.id, list.vpcId]).toEqual([true, vpc.id]);
  expect(toAclList("other", vpc).id).not.toBe(list.id);
});

test("toAclItem() lets TCP in from everywhere, to one port or to all", () => {
  expect(toAclItem({ list, number: 3, startPort: 80 })).toMatchObject({
    listId: list.id,
    protocol: "tcp",
    startPort: 80,
    endPort: 80,
    cidrs: ["0.0.0.0/0"],
    trafficType: "Ingress",
    action: "Allow",
    number: 3,
    state: "Active",
  });
  expect(toAclItem({ list, number: 3, startPort: 80, endPort: 90 }).endPort).toBe(90);
  expect(toAclItem({ list, number: 4 }).startPort).toBeUndefined();
});
