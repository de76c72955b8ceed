import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import {
  listOf,
  mapOf,
  mergedBy,
  normalize,
  record,
  type Field,
} from "../../../../lib/simulator/kubernetes/schema/schema.ts";

const INNER = record({ name: "text", count: "integer" });

function keep(field: Field, value: JsonObject[string]): JsonObject {
  const findings = { unknown: [] };
  return normalize(record({ a: field }), { a: value }, { kind: "Node", findings });
}

test.each<[Field, JsonObject[string], JsonObject]>([
  ["text", "x", { a: "x" }],
  ["text", "", {}],
  ["text", null, {}],
  ["pointer", "", { a: "" }],
  ["integer", 0, { a: 0 }],
  ["flag", true, { a: true }],
  ["flag", false, {}],
  ["switch", false, { a: false }],
  ["portOrName", 80, { a: 80 }],
  ["portOrName", "http", { a: "http" }],
  ["time", "2026-01-01T00:00:00Z", { a: "2026-01-01T00:00:00Z" }],
  ["time", "2026-01-01T00:00:00.5+02:00", { a: "2026-01-01T00:00:00.5+02:00" }],
  ["microTime", "2026-01-01T00:00:00.000001Z", { a: "2026-01-01T00:00:00.000001Z" }],
  ["quantity", 2, { a: "2" }],
  ["quantity", "2Gi", { a: "2Gi" }],
  ["any", { b: [null, ""] }, { a: { b: [null, ""] } }],
  [INNER, { name: "", count: 1 }, { a: { count: 1 } }],
  [INNER, {}, { a: {} }],
  [listOf("text"), ["x", ""], { a: ["x", ""] }],
  [listOf("text"), [], {}],
  [mergedBy("name", INNER), [{ name: "n" }], { a: [{ name: "n" }] }],
  [mapOf("pointer"), { k: "", l: null }, { a: { k: "", l: "" } }],
  [mapOf("pointer"), {}, {}],
])("normalize() of a field %j with %j keeps %j", (field, value, expected) => {
  expect(keep(field, value)).toEqual(expected);
});

test.each<[Field, JsonObject[string], string]>([
  ["text", 1, "cannot unmarshal number into Go struct field Node.a"],
  ["pointer", true, "cannot unmarshal boolean into Go struct field Node.a"],
  ["integer", 1.5, "cannot unmarshal number into Go struct field Node.a"],
  ["integer", "1", "cannot unmarshal string into Go struct field Node.a"],
  ["flag", "true", "cannot unmarshal string into Go struct field Node.a"],
  ["switch", "true", "cannot unmarshal string into Go struct field Node.a"],
  ["portOrName", 1.5, "cannot unmarshal number into Go struct field Node.a"],
  ["quantity", {}, "cannot unmarshal object into Go struct field Node.a"],
  [INNER, [], "cannot unmarshal array into Go struct field Node.a"],
  [INNER, { count: "1" }, "Go struct field Node.a.count"],
  [listOf("text"), {}, "cannot unmarshal object into Go struct field Node.a"],
  [listOf("text"), ["x", 1], "Go struct field Node.a[1]"],
  [mapOf("pointer"), "x", "cannot unmarshal string into Go struct field Node.a"],
  [mapOf("pointer"), { k: 1 }, "Go struct field Node.a.k"],
  ["time", "yesterday", 'a: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00"'],
  ["time", "2026-01-01", 'parsing time "2026-01-01"'],
  ["microTime", "2026-01-01T00:00:00Z", 'as "2006-01-02T15:04:05.000000Z07:00"'],
  ["microTime", "2026-01-01T00:00:00.123Z", 'as "2006-01-02T15:04:05.000000Z07:00"'],
])("normalize() of a field %j refuses %j", (field, value, message) => {
  expect(() => keep(field, value)).toThrow(message);
});

test("normalize() drops fields it does not know and says where they were", () => {
  const findings = { unknown: [] };
  const schema = record({ spec: INNER, items: listOf(INNER) });
  const value = { spec: { foo: 1, name: "n" }, items: [{ bar: null }], constructor: 1 };
  expect(normalize(schema, value, { kind: "Node", findings })).toEqual({
    spec: { name: "n" },
    items: [{}],
  });
  expect<string[]>(findings.unknown).toEqual(["spec.foo", "items[0].bar", "constructor"]);
});
