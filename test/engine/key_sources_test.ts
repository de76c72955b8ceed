import { expect, test } from "bun:test";
import { toOwnerKeys } from "../../lib/engine/key_sources.ts";
import type { Key } from "../../lib/kube/cache/store.ts";
import type { ObjectMeta, Resource } from "../../lib/kube/kinds/resource.ts";
import { type Widget, WIDGETS } from "../support/kube/kinds/widgets.ts";

const OWNER = { apiVersion: "example.org/v1", kind: "Widget", name: "w", uid: "u" };
const CLUSTER_WIDGETS: Resource<Widget> = { ...WIDGETS, namespaced: false };
const NODES: Resource<Widget> = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
};

test.each<[string, Resource<Widget>, ObjectMeta["ownerReferences"], Key[]]>([
  ["its owner", WIDGETS, [OWNER], ["ns/w"]],
  ["every owner of the kind", WIDGETS, [OWNER, { ...OWNER, name: "x" }], ["ns/w", "ns/x"]],
  ["an owner that has no namespace", CLUSTER_WIDGETS, [OWNER], ["w"]],
  ["an owner by another version", WIDGETS, [{ ...OWNER, apiVersion: "example.org/v2" }], ["ns/w"]],
  ["an owner of the core group", NODES, [{ ...OWNER, apiVersion: "v1", kind: "Node" }], ["w"]],
  ["none of another kind", WIDGETS, [{ ...OWNER, kind: "Gadget" }], []],
  ["none of another group", WIDGETS, [{ ...OWNER, apiVersion: "example.com/v1" }], []],
  ["none of the core group", WIDGETS, [{ ...OWNER, apiVersion: "v1" }], []],
  ["none of what is nobody's", WIDGETS, undefined, []],
])("toOwnerKeys() finds %s", (_what, owner, ownerReferences, expected) => {
  const metadata = { name: "g", namespace: "ns", ...(ownerReferences && { ownerReferences }) };
  expect(toOwnerKeys(owner)({ metadata })).toEqual(expected);
});
