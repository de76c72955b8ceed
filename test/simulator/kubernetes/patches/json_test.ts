import { expect, test } from "bun:test";
import {
  isArray,
  isEqual,
  isObject,
  objectAt,
  stringAt,
  without,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";

test.each([
  [{}, true, false],
  [{ a: 1 }, true, false],
  [[], false, true],
  [null, false, false],
  [undefined, false, false],
  ["{}", false, false],
  [0, false, false],
])("isObject() and isArray() of %p are %p and %p", (value, object, array) => {
  expect(isObject(value)).toBe(object);
  expect(isArray(value)).toBe(array);
});

test.each([
  [{ a: { b: 1 } }, { b: 1 }],
  [{ a: [1] }, {}],
  [{ a: null }, {}],
  [{ a: "text" }, {}],
  [{}, {}],
])("objectAt() of %p is %p", (parent, expected) => {
  expect(objectAt(parent, "a")).toEqual(expected);
});

test.each([
  [{ a: "text" }, "text"],
  [{ a: 1 }, ""],
  [{ a: null }, ""],
  [{}, ""],
])("stringAt() of %p is %p", (parent, expected) => {
  expect(stringAt(parent, "a")).toBe(expected);
});

test("without() copies, and leaves what it was given alone", () => {
  const object = { a: 1, b: 2 };
  expect(without(object, "a")).toEqual({ b: 2 });
  expect(without(object, "c")).toEqual({ a: 1, b: 2 });
  expect(object).toEqual({ a: 1, b: 2 });
});

test.each([
  [{ a: 1, b: [2, { c: 3 }] }, { b: [2, { c: 3 }], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: null }, {}, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [[], {}, false],
  [{}, [], false],
  [{}, null, false],
  [1, "1", false],
  ["", null, false],
  [undefined, undefined, true],
])("isEqual() of %p and %p is %p", (left, right, expected) => {
  expect(isEqual(left, right)).toBe(expected);
});
