import { expect, test } from "bun:test";
import { Patience } from "../../../../../lib/controllers/vino/machines/removal/patience.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";

test("Patience ends after a minute of silence, and begins again after an answer", async () => {
  const clock = new ManualClock();
  const patience = new Patience(clock);
  expect(patience.note(true)).toBe(false);
  await clock.advance(59_999);
  expect(patience.note(true)).toBe(false);
  expect(patience.note(false)).toBe(false);
  await clock.advance(1);
  expect(patience.note(true)).toBe(false);
  await clock.advance(60_000);
  expect(patience.note(true)).toBe(true);
});
