import { describe, expect, test } from "bun:test";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { findDamage } from "../../../lib/kube/kinds/shape.ts";

describe("findDamage()", () => {
  const metadata = { name: "a", uid: "u", resourceVersion: "1", labels: { a: "b" } };
  const spec = { providerID: "x://y", taints: [{ key: "k", effect: "NoSchedule", more: {} }] };
  const status = {
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { systemUUID: "u" },
  };

  test.each<[string, unknown]>([
    ["a whole Node", { metadata, spec, status }],
    ["one with nothing but a name", { metadata: { name: "a" } }],
    [
      "one with nothing in its fields",
      { metadata: { name: "a", labels: null }, spec: null, status: { conditions: null } },
    ],
  ])("finds none in %s", (_title, object) => {
    expect(findDamage(NODES, object)).toBeUndefined();
  });

  test.each<[unknown, string]>([
    [undefined, "it is not an object"],
    [[], "it is not an object"],
    [{}, "it has no metadata"],
    [{ metadata: { name: 1 } }, "it has no name"],
    [{ metadata: { ...metadata, uid: 1 } }, "metadata.uid has a wrong type"],
    [{ metadata: { ...metadata, annotations: [] } }, "metadata.annotations has a wrong type"],
    [{ metadata, spec: "x" }, "spec has a wrong type"],
    [{ metadata, spec: { providerID: {} } }, "spec.providerID has a wrong type"],
    [{ metadata, spec: { taints: [{ key: "k" }] } }, "spec.taints has a wrong type"],
    [{ metadata, status: { conditions: {} } }, "status.conditions has a wrong type"],
    [{ metadata, status: { addresses: [null] } }, "status.addresses has a wrong type"],
    [
      { metadata, status: { nodeInfo: { systemUUID: 1 } } },
      "status.nodeInfo.systemUUID has a wrong type",
    ],
  ])("finds it in %j", (object, damage) => {
    expect(findDamage(NODES, object)).toBe(damage);
  });

  test("looks at the metadata alone of all but Nodes", () => {
    expect(findDamage(LEASES, { metadata: { name: "a" }, spec: 1 })).toBeUndefined();
  });

  test.each<[object, string | undefined]>([
    [{ finalizers: ["a/b"], ownerReferences: [], generation: 1 }, undefined],
    [{ finalizers: "a/b" }, "metadata.finalizers has a wrong type"],
    [{ finalizers: [1] }, "metadata.finalizers has a wrong type"],
    [{ ownerReferences: [{ uid: "u" }] }, "metadata.ownerReferences has a wrong type"],
    [{ generation: "1" }, undefined],
  ])("looks at the metadata that a kind asks for, as in %j", (more, damage) => {
    const kind = { ...LEASES, metadata: ["finalizers", "ownerReferences"] as const };
    expect(findDamage(kind, { metadata: { name: "a", ...more } })).toBe(damage);
  });
});
