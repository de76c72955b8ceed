/**
 * Where objects live.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import {
  findDamage,
  type Kind,
  type KubeObject,
  type ObjectPath,
  type Resource,
  toPath,
  trimObject,
} from "../../../lib/kube/kinds/resource.ts";
import { PROVIDED_NODE_IP } from "../../../lib/controllers/words.ts";

describe("toPath()", () => {
  const CASES: [Resource<KubeObject>, ObjectPath | undefined, string][] = [
    [NODES, undefined, "/api/v1/nodes"],
    [NODES, { name: "a" }, "/api/v1/nodes/a"],
    [NODES, { name: "a", subresource: "status" }, "/api/v1/nodes/a/status"],
    [NODES, { name: "a/../b?c#d e" }, "/api/v1/nodes/a%2F..%2Fb%3Fc%23d%20e"],
    [EVENTS, {}, "/api/v1/events"],
    [EVENTS, { namespace: "default" }, "/api/v1/namespaces/default/events"],
    [
      LEASES,
      { namespace: "kube-system", name: "x" },
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
    ],
  ];
  test.each(CASES)(
    "gives the path of an object or a collection, case %#",
    (resource, path, expected) => {
      expect(toPath(resource, path)).toBe(expected);
    },
  );
});

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

/** What the API server sends and ObjectMeta does not name. */
const bulk = { managedFields: [{ manager: "kubelet" }] };

const condition = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "kubelet is posting ready status",
  lastHeartbeatTime: "2026-01-01T00:00:00Z",
};
const spec = {
  providerID: "xenorchestra://p/v",
  podCIDR: "10.244.0.0/24",
  taints: [{ key: "k", effect: "NoSchedule" }],
};
const status = {
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  conditions: [{ ...condition, type: "MemoryPressure", status: "False" }, condition],
  nodeInfo: { systemUUID: "U", kernelVersion: "6.12.0" },
  capacity: { cpu: "4" },
  images: [{ names: ["registry/image"], sizeBytes: 1 }],
};

const raw = (): Node =>
  structuredClone({
    metadata: {
      ...bulk,
      name: "a",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { l: "1" },
      annotations: {
        [PROVIDED_NODE_IP]: "10.0.0.1",
        "landfall.dev/any": "{}",
        "example.org/long": "…",
      },
    },
    spec,
    status,
  });

test("trimObject() keeps of a Node what is read, and nothing else", () => {
  expect<object>(trimObject(NODES, raw())).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "a",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { l: "1" },
      annotations: { [PROVIDED_NODE_IP]: "10.0.0.1", "landfall.dev/any": "{}" },
    },
    spec: { providerID: spec.providerID, taints: spec.taints },
    status: {
      addresses: status.addresses,
      conditions: [{ type: "Ready", status: "True" }],
      nodeInfo: { systemUUID: "U" },
    },
  });
});

test.each([
  ["True", true],
  ["False", true],
  ["Unknown", true],
  ["Perhaps", false],
])("trimObject() keeps whether a Node is ready (%s), once for all Nodes", (word, isShared) => {
  const take = () => {
    const node = { ...raw(), status: { conditions: [{ ...condition, status: word }] } };
    return trimObject(NODES, node).status?.conditions;
  };
  expect(take()).toEqual([{ type: "Ready", status: word }]);
  expect(take() === take()).toBe(isShared);
});

test("trimObject() keeps of conditions without Ready that there were some", () => {
  const { status, ...rest } = raw();
  const conditions = status?.conditions?.slice(0, 1) ?? [];
  expect<object | undefined>(trimObject(NODES, { ...rest, status: { conditions } }).status).toEqual(
    {
      conditions: [],
    },
  );
});

test("trimObject() gives back what it trimmed already", () => {
  const node = trimObject(NODES, raw());
  expect(trimObject(NODES, node)).toBe(node);
});

test("trimObject() adds nothing to a Node that is bare", () => {
  expect<object>(trimObject(NODES, { metadata: { name: "a" } })).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a" },
  });
});

test("trimObject() keeps all but the copies of a kind that is no Node", () => {
  const other: Resource<KubeObject & { readonly status: object }> = {
    apiVersion: "example.org/v1",
    kind: "Gallery",
    plural: "galleries",
    namespaced: true,
  };
  const gallery = { metadata: { name: "a" }, status: { images: [1] } };
  expect(trimObject(other, gallery).status).toEqual({ images: [1] });
});

test("I-10: trimObject() freezes the object through and through", () => {
  const node = trimObject(NODES, raw());
  const attempts: (() => unknown)[] = [
    () => Object.assign(node, { spec: {} }),
    () => Object.assign(node.metadata, { name: "b" }),
    () => Object.assign(node.metadata.annotations ?? {}, { x: "y" }),
    () => Object.assign(node.spec?.taints?.[0] ?? {}, { key: "x" }),
    () => Array.prototype.push.call(node.status?.addresses ?? [], {}),
  ];
  for (const attempt of attempts) expect(attempt).toThrow(TypeError);
});

test("trimObject() takes an object however deep it goes", () => {
  const depth = 100_000;
  const deep = JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  const node = { metadata: { name: "a" }, spec: { taints: [deep] } };
  expect(Object.isFrozen(trimObject(NODES, node).spec?.taints?.[0])).toBe(true);
});

const owned = {
  finalizers: ["example.org/painting"],
  ownerReferences: [{ apiVersion: "example.org/v1", kind: "Museum", name: "m", uid: "u" }],
  generation: 3,
};

test.each<[string, Kind<KubeObject>["metadata"], object]>([
  ["none of a kind that asks for nothing", undefined, {}],
  [
    "what the kind asks for",
    ["finalizers", "generation"],
    { finalizers: owned.finalizers, generation: 3 },
  ],
  ["all of it", ["finalizers", "ownerReferences", "generation"], owned],
])("trimObject() keeps of who owns an object %s", (_title, metadata, kept) => {
  const kind = {
    apiVersion: "example.org/v1",
    kind: "Gallery",
    plural: "galleries",
    namespaced: true,
  };
  const gallery = { metadata: { ...bulk, ...owned, name: "a" } };
  expect<object>(trimObject({ ...kind, ...(metadata && { metadata }) }, gallery).metadata).toEqual({
    ...kept,
    name: "a",
  });
});

test("trimObject() keeps no copy that kubectl apply made", () => {
  const other = {
    apiVersion: "example.org/v1",
    kind: "Gallery",
    plural: "galleries",
    namespaced: true,
  };
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", a: "b" };
  const { metadata } = trimObject<KubeObject>(other, { metadata: { name: "a", annotations } });
  expect(metadata.annotations).toEqual({ a: "b" });
});
