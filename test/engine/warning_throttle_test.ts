import { expect, test } from "bun:test";
import { WarningThrottle } from "../../lib/engine/warning_throttle.ts";
import { ManualClock } from "../support/manual_clock.ts";

const WARNING = { type: "Warning", reason: "R", message: "m" } as const;

test("N-25 WarningThrottle lets an equal Warning pass once in five minutes", async () => {
  const clock = new ManualClock();
  const throttle = new WarningThrottle(clock);
  expect(throttle.passes("n", WARNING)).toBe(true);
  await clock.advance(299_999);
  expect(throttle.passes("n", WARNING)).toBe(false);
  await clock.advance(1);
  expect(throttle.passes("n", WARNING)).toBe(true);
});

test("WarningThrottle lets another message, reason or Node pass at once", () => {
  const throttle = new WarningThrottle(new ManualClock());
  throttle.passes("n", WARNING);
  expect(throttle.passes("n", { ...WARNING, message: "other" })).toBe(true);
  expect(throttle.passes("n", { ...WARNING, reason: "S" })).toBe(true);
  expect(throttle.passes("m", WARNING)).toBe(true);
});

test("WarningThrottle forgets a Node", () => {
  const throttle = new WarningThrottle(new ManualClock());
  throttle.passes("n", WARNING);
  throttle.forget("n");
  expect(throttle.passes("n", WARNING)).toBe(true);
});
