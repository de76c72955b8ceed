import { expect, test } from "bun:test";
import { NODES, type Node, type Resource, type KubeObject } from "../../lib/kube/resource.ts";
import { trimObject } from "../../lib/kube/trim.ts";

/** What the API server sends and ObjectMeta does not name. */
const bulk = { managedFields: [{ manager: "kubelet" }] };

const raw = (): Node => ({
  metadata: {
    ...bulk,
    name: "a",
    resourceVersion: "7",
    annotations: {
      "kubectl.kubernetes.io/last-applied-configuration": "{…}",
      "example.org/kept": "yes",
    },
  },
  spec: { taints: [{ key: "k", effect: "NoSchedule" }] },
  status: {
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    images: [{ names: ["registry/image"], sizeBytes: 1 }],
  },
});

test("trimObject() drops the bulk, keeps the rest and fills in the kind", () => {
  expect(trimObject(NODES, raw())).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", resourceVersion: "7", annotations: { "example.org/kept": "yes" } },
    spec: { taints: [{ key: "k", effect: "NoSchedule" }] },
    status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
  });
});

test("trimObject() keeps the image list of a kind that is no Node", () => {
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
