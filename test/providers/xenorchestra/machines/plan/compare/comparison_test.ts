import { expect, test } from "bun:test";
import {
  asUnbuilt,
  isBuilt,
  joinComparisons,
  toComparison,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/comparison.ts";

test("toComparison() keeps the part with its difference", () => {
  const part = { name: "CPUs", wanted: "2" };
  expect(toComparison(part, undefined)).toEqual({ parts: [part], differences: [] });
  expect(toComparison(part, { needsStop: true })).toEqual({
    parts: [part],
    differences: [{ part, needsStop: true }],
  });
});

test("joinComparisons() keeps the order", () => {
  const [one, other] = ["a", "b"].map((name) => toComparison({ name }, {}));
  if (one === undefined || other === undefined) throw new Error("Cannot test: there is none");
  expect(joinComparisons([one, other])).toEqual({
    parts: [{ name: "a" }, { name: "b" }],
    differences: [{ part: { name: "a" } }, { part: { name: "b" } }],
  });
});

test("isBuilt() counts only differences of disks and interfaces", () => {
  const size = toComparison({ name: "CPUs" }, { needsStop: true });
  const disk = asUnbuilt(toComparison({ name: "disk root" }, { needsStop: true }));
  const same = asUnbuilt(toComparison({ name: "disk data" }, undefined));
  expect([size, same, disk].map(isBuilt)).toEqual([true, true, false]);
  expect(isBuilt(joinComparisons([size, disk]))).toBe(false);
});
