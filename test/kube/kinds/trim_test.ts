import { expect, test } from "bun:test";
import { NODES, type Node } from "../../../lib/kube/kinds/node.ts";
import type { Kind } from "../../../lib/kube/kinds/kind.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { PROVIDED_NODE_IP } from "../../../lib/controllers/words.ts";
import { trimObject } from "../../../lib/kube/kinds/trim.ts";

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
