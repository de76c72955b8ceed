import { describe, expect, test } from "bun:test";
import {
  changesBackends,
  isBackendNode,
  isExcluded,
  listExcluded,
  toBackends,
} from "../../../../lib/controllers/service/spec/node_set.ts";
import type { Presence } from "../../../../lib/cloud/provider.ts";
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const AUTOSCALER = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };

function toNode(change: Partial<Node["metadata"]> = {}, rest: Omit<Node, "metadata"> = {}): Node {
  return { metadata: { name: "n1", ...change }, ...rest };
}

test.each<[string, Node, boolean]>([
  ["a plain Node", toNode(), true],
  [
    "one that is not Ready",
    toNode({}, { status: { conditions: [{ type: "Ready", status: "False" }] } }),
    true,
  ],
  ["one that is being deleted", toNode({ deletionTimestamp: "2026-01-01T00:00:00Z" }), false],
  ["one that the autoscaler removes", toNode({}, { spec: { taints: [AUTOSCALER] } }), false],
  [
    "one with another taint",
    toNode({}, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }),
    true,
  ],
  ["a control plane", toNode({ labels: { "node-role.kubernetes.io/control-plane": "" } }), true],
])("S-10 isBackendNode() of %s", (_what, node, expected) => {
  expect(isBackendNode(node)).toBe(expected);
});

test.each<[string, boolean]>([
  ...["", "true", "1", "t", "T", "TRUE", "True", "foo", "no", "0 "].map(
    (one) => [one, true] as [string, boolean],
  ),
  ...["false", "0", "f", "F", "FALSE", "False"].map((one) => [one, false] as [string, boolean]),
])("S-10 isExcluded() with the label %p: %p", (label, expected) => {
  expect(isExcluded(toNode({ labels: { [EXCLUDE]: label } }))).toBe(expected);
  expect(isBackendNode(toNode({ labels: { [EXCLUDE]: label } }))).toBe(!expected);
});

describe("S-11 changesBackends()", () => {
  const before = toNode({}, { spec: { providerID: "a" } });
  test.each<[string, Node | undefined, Node | undefined, boolean]>([
    ["a new Node", undefined, before, true],
    ["a deleted Node", before, undefined, true],
    ["another provider ID", before, toNode({}, { spec: { providerID: "b" } }), true],
    [
      "an exclusion",
      before,
      toNode({ labels: { [EXCLUDE]: "" } }, { spec: { providerID: "a" } }),
      true,
    ],
    ["another label", before, toNode({ labels: { a: "" } }, { spec: { providerID: "a" } }), false],
    [
      "a label that excludes nothing",
      before,
      toNode({ labels: { [EXCLUDE]: "false" } }, { spec: { providerID: "a" } }),
      false,
    ],
    ["a taint", before, toNode({}, { spec: { providerID: "a", taints: [AUTOSCALER] } }), false],
    [
      "a deletion mark",
      before,
      toNode({ deletionTimestamp: "2026" }, { spec: { providerID: "a" } }),
      false,
    ],
    [
      "readiness",
      before,
      { ...before, status: { conditions: [{ type: "Ready", status: "False" }] } },
      false,
    ],
    [
      "an InternalIP",
      before,
      { ...before, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } },
      true,
    ],
    [
      "an ExternalIP",
      before,
      { ...before, status: { addresses: [{ type: "ExternalIP", address: "10.0.0.1" }] } },
      false,
    ],
  ])("of %s", (_what, one, other, expected) => {
    expect(changesBackends(one, other)).toBe(expected);
  });
});

describe("toBackends()", () => {
  const unknown: Presence = { kind: "unknown", reason: "noInventory", message: "" };
  const present: Presence = { kind: "present", instance: toInstance("vm-1"), matchedBy: "name" };
  const toInstanceId = (id: string): string | undefined =>
    id.startsWith("test://") ? id.slice(7) : undefined;
  const list = (node: Node, presence: Presence): unknown =>
    toBackends([node], { toInstanceId, findPresence: () => presence });

  test("takes the instance from the provider ID, else from the inventory, else it is not known", () => {
    const named = toNode({}, { spec: { providerID: "test://vm-7" } });
    expect(list(named, present)).toEqual([{ nodeName: "n1", instanceId: "vm-7", internalIps: [] }]);
    expect(list(toNode(), present)).toEqual([
      { nodeName: "n1", instanceId: "vm-1", internalIps: [] },
    ]);
    expect(list(toNode(), unknown)).toEqual([{ nodeName: "n1", internalIps: [] }]);
  });

  test("leaves out Nodes of another cloud, and those that may get no traffic", () => {
    expect(list(toNode({}, { spec: { providerID: "other://1" } }), { kind: "foreign" })).toEqual(
      [],
    );
    expect(list(toNode({ labels: { [EXCLUDE]: "" } }), present)).toEqual([]);
  });

  test("has the InternalIPs, by the name of the Node", () => {
    const addresses = [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "192.0.2.1" },
      { type: "InternalIP", address: "fd00::1" },
    ];
    const nodes = [toNode({ name: "b" }), toNode({ name: "a" }, { status: { addresses } })];
    expect(toBackends(nodes, { toInstanceId: undefined, findPresence: () => unknown })).toEqual([
      { nodeName: "a", internalIps: ["10.0.0.1", "fd00::1"] },
      { nodeName: "b", internalIps: [] },
    ]);
  });
});

test("listExcluded() finds the instances of Nodes that must get no traffic", () => {
  const toId = (id: string): string | undefined =>
    id.startsWith("test://") ? id.slice(7) : undefined;
  const excluded = { labels: { [EXCLUDE]: "" } };
  const nodes = [
    toNode({}, { spec: { providerID: "test://plain" } }),
    toNode(excluded, { spec: { providerID: "test://excluded" } }),
    toNode(excluded, { spec: { providerID: "other://foreign" } }),
    toNode(excluded),
  ];
  expect(listExcluded(nodes, toId)).toEqual(new Set(["excluded"]));
  expect(listExcluded(nodes, undefined)).toEqual(new Set());
});
