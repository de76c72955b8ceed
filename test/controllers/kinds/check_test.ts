import { expect, test } from "bun:test";
import { checkBySchema, checkNamed } from "../../../lib/controllers/kinds/check.ts";
import {
  list,
  mapOf,
  object,
  optional,
  required,
  wholeNumber,
} from "../../../lib/controllers/kinds/parts.ts";

interface Part {
  readonly count: number;
}

const SCHEMA = object<{ parts?: readonly Part[]; named?: Record<string, Part> }>({
  parts: optional(list(object<Part>({ count: required(wholeNumber(0, 2), "C.") }), 2), "P."),
  named: optional(mapOf(object<Part>({ count: required(wholeNumber(0, 2), "C.") }), 2), "N."),
});

test("checkBySchema() returns the value without fields that the schema does not have", () => {
  const checked: unknown = checkBySchema(SCHEMA, { parts: [{ count: 1, other: 2 }], more: 3 });
  expect(checked).toEqual({ isValid: true, spec: { parts: [{ count: 1 }] } });
});

test("checkBySchema() names every problem with its path", () => {
  const list = (spec: unknown): string[] => {
    const checked = checkBySchema(SCHEMA, spec);
    return checked.isValid ? [] : checked.problems.map((one) => `${one.path}: ${one.message}`);
  };
  expect(list({ parts: [{ count: 3 }, {}], named: { a: "b" } })).toEqual([
    "spec.parts[0].count: must be a whole number from 0 to 2, but is 3",
    "spec.parts[1].count: must be set",
    "spec.named.a: must be a map",
  ]);
  expect(list(undefined)).toEqual(["spec: must be set"]);
});

test("checkNamed() refuses a name that is too long for a label, before the problems of the spec", () => {
  const list = (name: string, spec: unknown): string[] => {
    const checked = checkNamed(SCHEMA, { metadata: { name }, spec });
    return checked.isValid ? [] : checked.problems.map(({ path }) => path);
  };
  expect(list("a".repeat(63), {})).toEqual([]);
  expect(list("a".repeat(64), {})).toEqual(["metadata.name"]);
  expect(list("a".repeat(64), { parts: [{}] })).toEqual(["metadata.name", "spec.parts[0].count"]);
});
