import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isLabelKey, isLabelValue, toLabelValue } from "../../../lib/core/text/label.ts";

describe("isLabelKey()", () => {
  test.each(["a", "a.b/c", "x_y-z.1", `a.b/${"n".repeat(63)}`])("takes %s", (key) => {
    expect(isLabelKey(key)).toBe(true);
  });
  test.each([
    "",
    "/a",
    "a/",
    "a/b/c",
    "A.b/c",
    "-a",
    "a-",
    "ä",
    `a.b/${"n".repeat(64)}`,
    `${"p".repeat(254)}/a`,
  ])("refuses %s", (key) => {
    expect(isLabelKey(key)).toBe(false);
  });
});

describe("isLabelValue()", () => {
  test.each(["", "a", "A-b_c.1", "v".repeat(63)])("takes %p", (value) => {
    expect(isLabelValue(value)).toBe(true);
  });
  test.each(["-a", "a.", "a b", "é", "v".repeat(64)])("refuses %p", (value) => {
    expect(isLabelValue(value)).toBe(false);
  });
});

describe("C-06 toLabelValue()", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["k8s-worker-1", "k8s-worker-1"],
    ["nœud 1", "n-ud-1"],
    ["--a--", "a"],
    ["日本", ""],
    [`${"a".repeat(62)}-b`, "a".repeat(62)],
    [`${"a".repeat(62)}😀b`, "a".repeat(62)],
    ["", ""],
  ];
  test.each(cases)("%p becomes %p", (text, wanted) => {
    expect(toLabelValue(text)).toBe(wanted);
  });
  test("gives a legal value for any text, and leaves legal values alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const value = toLabelValue(text);
        expect(isLabelValue(value)).toBe(true);
        expect(toLabelValue(value)).toBe(value);
      }),
    );
  });
});
