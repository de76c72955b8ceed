import { describe, expect, test } from "bun:test";
import { mergedBy, record } from "../../../../lib/simulator/kubernetes/schema/schema.ts";
import { applyStrategicPatch } from "../../../../lib/simulator/kubernetes/patches/strategic_patch.ts";

const SCHEMA = record({
  list: mergedBy("k", record({ k: "text", v: "text" })),
  set: { items: "text", set: true },
  plain: { items: "text" },
});
const A = { k: "a", v: "1" };
const B = { k: "b", v: "2" };

describe("applyStrategicPatch()", () => {
  test.each([
    [
      "merges by key",
      { list: [A] },
      { list: [{ k: "a", v: "9" }, B] },
      { list: [{ k: "a", v: "9" }, B] },
    ],
    ["deletes an item", { list: [A, B] }, { list: [{ k: "a", $patch: "delete" }] }, { list: [B] }],
    ["replaces a list", { list: [A] }, { list: [B, B, { $patch: "replace" }] }, { list: [B, B] }],
    ["replaces a list by nothing", { list: [A] }, { list: [{ $patch: "replace" }] }, { list: [] }],
    ["unites a set", { set: ["a"] }, { set: ["b", "a"] }, { set: ["a", "b"] }],
    [
      "deletes from a set",
      { set: ["a", "b"] },
      { "$deleteFromPrimitiveList/set": ["a"] },
      { set: ["b"] },
    ],
    [
      "orders",
      { list: [A, B] },
      { "$setElementOrder/list": [{ k: "b" }, { k: "a" }] },
      { list: [B, A] },
    ],
    ["replaces a plain list", { plain: ["a"] }, { plain: ["b"] }, { plain: ["b"] }],
    ["removes by null", { plain: ["a"], x: 1 }, { plain: null }, { x: 1 }],
    ["retains keys", { a: 1, b: 2 }, { $retainKeys: ["b"] }, { b: 2 }],
    ["replaces an object", { o: { a: 1 } }, { o: { $patch: "replace", b: 2 } }, { o: { b: 2 } }],
  ])("%s", (_title, target, patch, expected) => {
    expect(applyStrategicPatch(SCHEMA, target, patch)).toEqual(expected);
  });

  test("refuses an item without its key and an unknown directive", () => {
    expect(() => applyStrategicPatch(SCHEMA, {}, { list: [{ v: "1" }] })).toThrow("merge key: k");
    expect(() => applyStrategicPatch(SCHEMA, {}, { $patch: "what" })).toThrow("what");
  });
});
