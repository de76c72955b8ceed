import { expect, test } from "bun:test";
import { applyMergePatch } from "../../../../lib/simulator/kubernetes/patches/merge_patch.ts";

test.each([
  [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
  [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
  [{ a: 1 }, { a: { b: { c: null, d: 1 } } }, { a: { b: { d: 1 } } }],
])("applyMergePatch() of %p and %p is %p", (target, patch, expected) => {
  expect(applyMergePatch(target, patch)).toEqual(expected);
});
