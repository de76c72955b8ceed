import { expect, test } from "bun:test";
import { isFields, parseFields, parseJson } from "../../../lib/core/text/json.ts";

test("parseJson() reads any JSON, and nothing else", () => {
  expect(["1", "null", '"a"', '{"a":1}'].map(parseJson)).toEqual([1, null, "a", { a: 1 }]);
  expect(["", "a", "{", '{"a":1} x'].map(parseJson)).toEqual(Array(4).fill(undefined));
});

test.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ["a", false],
])("isFields() of %j is %p", (value, expected) => {
  expect(isFields(value)).toBe(expected);
});

test("parseFields() reads only objects", () => {
  expect(parseFields('{"a":1}')).toEqual({ a: 1 });
  expect(["[1]", "null", "1", "{"].map(parseFields)).toEqual(Array(4).fill(undefined));
});
