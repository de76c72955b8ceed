import { expect, test } from "bun:test";
import { CloudDeadline } from "../../../../../lib/controllers/vino/machines/removal/cloud_deadline.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";

test("CloudDeadline passes after ten minutes of silence, and begins again after an answer", async () => {
  const clock = new ManualClock();
  const deadline = new CloudDeadline(clock);
  expect(deadline.hasPassed(true)).toBe(false);
  await clock.advance(599_999);
  expect(deadline.hasPassed(true)).toBe(false);
  expect(deadline.hasPassed(false)).toBe(false);
  await clock.advance(1);
  expect(deadline.hasPassed(true)).toBe(false);
  await clock.advance(600_000);
  expect(deadline.hasPassed(true)).toBe(true);
});
