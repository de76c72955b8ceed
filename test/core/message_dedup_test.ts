import { describe, expect, test } from "bun:test";
import { MessageDedup } from "../../lib/core/message_dedup.ts";
import { ManualClock } from "../support/manual_clock.ts";

describe("MessageDedup", () => {
  test("reports a message once, until another one is reported", () => {
    const reported = new MessageDedup();
    const told = ["a", "a", "b", "b", "a"].map((text) => reported.isNew(text));
    expect(told).toEqual([true, false, true, false, true]);
  });

  test("reports a message again when its problem was over", () => {
    const reported = new MessageDedup();
    reported.isNew("a");
    reported.end();
    expect([reported.isNew("a"), reported.isNew("a")]).toEqual([true, false]);
  });

  test("reports a message again after the time of the reminder, counted from its last report", async () => {
    const clock = new ManualClock(0);
    const reported = new MessageDedup({ clock, afterMs: 1_000 });
    expect(reported.isNew("a")).toBe(true);
    await clock.advance(999);
    expect(reported.isNew("a")).toBe(false);
    await clock.advance(1);
    expect([reported.isNew("a"), reported.isNew("a")]).toEqual([true, false]);
    await clock.advance(1_000);
    expect(reported.isNew("a")).toBe(true);
  });
});
