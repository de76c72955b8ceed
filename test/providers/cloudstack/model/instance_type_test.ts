import { expect, test } from "bun:test";
import { formatInstanceType } from "../../../../lib/providers/cloudstack/model/inventory.ts";

test.each([
  ["Small Instance", "SmallInstance", "Small-Instance"],
  ["m1.large", "m1large", "m1.large"],
  ["Development-Internal", "DevelopmentInternal", "Development-Internal"],
  ["Über 2", "ber2", "ber-2"],
  ["ÄÖÜ", undefined, undefined],
  ["", undefined, undefined],
  ["x".repeat(70), "x".repeat(63), "x".repeat(63)],
])("formatInstanceType() of %p", (offering, squeezed, sanitised) => {
  expect(formatInstanceType(offering, "squeezed")).toBe(squeezed);
  expect(formatInstanceType(offering, "sanitised")).toBe(sanitised);
});
