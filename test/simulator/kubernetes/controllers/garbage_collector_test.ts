import { expect, test } from "bun:test";
import { systemClock } from "../../../../lib/core/clock.ts";
import { collectGarbage } from "../../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { ObjectAccess } from "../../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../../lib/simulator/kubernetes/registry.ts";

const NAMESPACE = "default";

function createObjects(): ObjectAccess {
  return new ObjectAccess(new Registry(systemClock, 100));
}

function createMap(
  objects: ObjectAccess,
  name: string,
  { owners = [], ...more }: JsonObject & { readonly owners?: readonly ApiObject[] } = {},
): ApiObject {
  const ownerReferences = owners.map(({ metadata: { name: owner, uid } }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: owner,
    uid,
  }));
  const metadata = { name, namespace: NAMESPACE, ownerReferences, ...more };
  return objects.create("configmaps", { metadata });
}

function listNames(objects: ObjectAccess): readonly string[] {
  return objects.list("configmaps").map(({ metadata }) => metadata.name);
}

test("collectGarbage() deletes what an object owned when it is gone, and what that owned", () => {
  const objects = createObjects();
  const owner = createMap(objects, "owner");
  const owned = createMap(objects, "owned", { owners: [owner] });
  createMap(objects, "deep", { owners: [owned] });
  createMap(objects, "free");
  expect(collectGarbage(objects)).toEqual([]);
  objects.delete("configmaps", { name: "owner", namespace: NAMESPACE });
  expect(collectGarbage(objects)).toEqual(["configmaps/default/owned", "configmaps/default/deep"]);
  expect(listNames(objects)).toEqual(["free"]);
});

test("collectGarbage() keeps an object while one of its owners is there", () => {
  const objects = createObjects();
  const [first, second] = [createMap(objects, "first"), createMap(objects, "second")];
  createMap(objects, "owned", { owners: [first, second] });
  objects.delete("configmaps", { name: "first", namespace: NAMESPACE });
  expect(collectGarbage(objects)).toEqual([]);
  objects.delete("configmaps", { name: "second", namespace: NAMESPACE });
  expect(collectGarbage(objects)).toEqual(["configmaps/default/owned"]);
});

test("collectGarbage() takes an owner of the same name with another UID for gone", () => {
  const objects = createObjects();
  createMap(objects, "owned", { owners: [createMap(objects, "owner")] });
  objects.delete("configmaps", { name: "owner", namespace: NAMESPACE });
  createMap(objects, "owner");
  expect(collectGarbage(objects)).toEqual(["configmaps/default/owned"]);
});

test("collectGarbage() deletes what is owned from another namespace", () => {
  const objects = createObjects();
  const { uid } = createMap(objects, "owner").metadata;
  for (const namespace of [NAMESPACE, "kube-system"]) {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
    objects.create("configmaps", {
      metadata: { name: "far", namespace, ownerReferences: [owner] },
    });
  }
  expect(collectGarbage(objects)).toEqual(["configmaps/kube-system/far"]);
});

test("collectGarbage() deletes once what waits for its finalizers", () => {
  const objects = createObjects();
  const owner = createMap(objects, "owner");
  createMap(objects, "owned", { owners: [owner], finalizers: ["example.org/a"] });
  objects.delete("configmaps", { name: "owner", namespace: NAMESPACE });
  expect(collectGarbage(objects)).toEqual(["configmaps/default/owned"]);
  expect(collectGarbage(objects)).toEqual([]);
  expect(listNames(objects)).toEqual(["owned"]);
});
