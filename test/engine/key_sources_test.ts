import { expect, test } from "bun:test";
import { fromSecondary, type KeySource, toOwnerKeys } from "../../lib/engine/key_sources.ts";
import { silentLogger } from "../../lib/core/log.ts";
import type { ObjectMeta, Resource } from "../../lib/kube/kinds/resource.ts";
import { type Key, Store } from "../../lib/kube/cache/store.ts";
import {
  type Gadget,
  GADGETS,
  toGadget,
  type Widget,
  WIDGETS,
} from "../support/kube/kinds/widgets.ts";

interface SetUp {
  readonly gadgets: Store<Gadget>;
  readonly source: KeySource;
  /** The keys of each change since the last time. */
  take(): Key[][];
  readonly end: () => void;
}

/** Follows gadgets by the widgets that they name, but for one that is there from the start. */
function follow(...first: readonly Gadget[]): SetUp {
  const gadgets = new Store<Gadget>({ resource: GADGETS, log: silentLogger });
  for (const gadget of first) gadgets.apply(gadget);
  const source = fromSecondary(gadgets, ({ widgets = [] }) => widgets.map((name) => `ns/${name}`));
  const told: Key[][] = [];
  const end = source.subscribe((keys) => told.push([...keys]));
  return { gadgets, source, take: () => told.splice(0), end };
}

test("fromSecondary() names the objects that existing ones belong to", () => {
  expect(follow(toGadget("g", "1", { widgets: ["a"] })).take()).toEqual([["ns/a"]]);
});

test.each<[string, string[], string[], Key[]]>([
  ["one", [], ["a"], ["ns/a"]],
  ["several", [], ["a", "b"], ["ns/a", "ns/b"]],
  ["none", [], [], []],
  ["the one it left as well as the one it went to", ["a"], ["b"], ["ns/a", "ns/b"]],
  ["one that it still speaks for once", ["a"], ["a"], ["ns/a"]],
])("fromSecondary() names %s", (_what, before, after, expected) => {
  const { gadgets, take } = follow(toGadget("g", "1", { widgets: before }));
  take();
  gadgets.apply(toGadget("g", "2", { widgets: after }));
  expect(take()).toEqual([expected]);
});

test("fromSecondary() names the objects of one that is gone, seen or missed in a new list", () => {
  const { gadgets, take } = follow(
    toGadget("g", "1", { widgets: ["a"] }),
    toGadget("h", "1", { widgets: ["b"] }),
  );
  take();
  gadgets.remove(toGadget("g", "2", { widgets: ["a"] }));
  gadgets.replace([], "3");
  expect(take()).toEqual([["ns/a"], ["ns/b"]]);
});

test("fromSecondary() tells nothing once it was ended", () => {
  const { gadgets, take, end } = follow();
  end();
  gadgets.apply(toGadget("g", "1", { widgets: ["a"] }));
  expect(take()).toEqual([]);
});

test("fromSecondary() is read with the first list, even an empty one, and not while the kind is gone", () => {
  const { gadgets, source } = follow();
  expect(source.reader?.synced).toBe(false);
  gadgets.replace([], "1");
  expect(source.reader?.synced).toBe(true);
  gadgets.clear();
  expect(source.reader?.synced).toBe(false);
});

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
