import { expect, test } from "bun:test";
import { isShown, isSurer } from "../../../lib/cloud/pools/hold.ts";

test("isSurer() orders what proves an address", () => {
  expect(isSurer("shown", "reserved")).toBe(true);
  expect(isSurer("reserved", "recorded")).toBe(true);
  expect(isSurer("recorded", "recorded")).toBe(false);
  expect(isSurer("recorded", "shown")).toBe(false);
  expect(isSurer("disputed", "recorded")).toBe(false);
  expect(isSurer("shown", "disputed")).toBe(false);
});

test("isShown() is true for what a status shows, in dispute or not", () => {
  expect((["disputed", "recorded", "reserved", "shown"] as const).filter(isShown)).toEqual([
    "disputed",
    "shown",
  ]);
});
