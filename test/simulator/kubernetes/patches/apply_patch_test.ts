import { expect, test } from "bun:test";
import {
  applyWish,
  listConflicts,
} from "../../../../lib/simulator/kubernetes/patches/apply_patch.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { mapOf, mergedBy, record } from "../../../../lib/simulator/kubernetes/schema/schema.ts";

const SCHEMA = record({
  map: mapOf("text"),
  list: mergedBy("k", record({ k: "text", v: "text" })),
  set: { items: "text", set: true },
  plain: { items: "text" },
  any: "any",
});

/** What is there, what was applied before, what is applied now, what comes of it, and what is in conflict. */
type Case = readonly [string, JsonObject, JsonObject, JsonObject, JsonObject, readonly string[]];

const CASES: readonly Case[] = [
  ["adds", { map: { b: "2" } }, {}, { map: { a: "1" } }, { map: { a: "1", b: "2" } }, []],
  [
    "changes its own",
    { map: { a: "1" } },
    { map: { a: "1" } },
    { map: { a: "2" } },
    { map: { a: "2" } },
    [],
  ],
  ["takes back", { map: { a: "1", b: "2" } }, { map: { a: "1" } }, {}, { map: { b: "2" } }, []],
  [
    "leaves what was changed",
    { map: { a: "9" } },
    { map: { a: "1" } },
    {},
    { map: { a: "9" } },
    [],
  ],
  [
    "fights for it",
    { map: { a: "9" } },
    { map: { a: "1" } },
    { map: { a: "1" } },
    { map: { a: "1" } },
    [".map.a"],
  ],
  ["agrees", { map: { a: "1" } }, {}, { map: { a: "1" } }, { map: { a: "1" } }, []],
  ["fights for a list", { plain: ["a"] }, {}, { plain: ["b"] }, { plain: ["b"] }, [".plain"]],
  ["drops from a set", { set: ["a", "b"] }, { set: ["a"] }, {}, { set: ["b"] }, []],
  ["keeps in a set", { set: ["a", "b"] }, { set: ["a"] }, { set: ["a"] }, { set: ["a", "b"] }, []],
  [
    "takes back a field of an item",
    { list: [{ k: "a", v: "1", w: "theirs" }, { k: "b" }] },
    { list: [{ k: "a", v: "1" }] },
    { list: [{ k: "a" }] },
    { list: [{ k: "a", w: "theirs" }, { k: "b" }] },
    [],
  ],
  [
    "drops an item",
    { list: [{ k: "a" }, { k: "b" }] },
    { list: [{ k: "a" }] },
    {},
    { list: [{ k: "b" }] },
    [],
  ],
  [
    "replaces what has no schema",
    { any: { a: [1] } },
    { any: { a: [1] } },
    { any: { a: [2] } },
    { any: { a: [2] } },
    [],
  ],
];

test.each(CASES)("applyWish() %s", (_title, before, last, wanted, after, conflicts) => {
  expect(applyWish(SCHEMA, before, { last, wanted })).toEqual(after);
  expect(listConflicts(SCHEMA, before, { last, wanted })).toEqual([...conflicts]);
});

test("listConflicts() has none about which object is meant", () => {
  const before = { kind: "A", metadata: { name: "a", uid: "1", labels: { l: "1" } } };
  const wanted = { kind: "B", metadata: { name: "b", uid: "2", labels: { l: "2" } } };
  expect(listConflicts("any", before, { last: {}, wanted })).toEqual([".metadata.labels.l"]);
});
