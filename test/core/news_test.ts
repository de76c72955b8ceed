import { describe, expect, test } from "bun:test";
import { News } from "../../lib/core/news.ts";
import { ManualClock } from "../support/manual_clock.ts";

describe("News", () => {
  test("are told once, until something else is told", () => {
    const news = new News();
    const told = ["a", "a", "b", "b", "a"].map((text) => news.isNew(text));
    expect(told).toEqual([true, false, true, false, true]);
  });

  test("are told again when they were over", () => {
    const news = new News();
    news.isNew("a");
    news.end();
    expect([news.isNew("a"), news.isNew("a")]).toEqual([true, false]);
  });

  test("are told again after the time of the reminder, counted from when they were told", async () => {
    const clock = new ManualClock(0);
    const news = new News({ clock, afterMs: 1_000 });
    expect(news.isNew("a")).toBe(true);
    await clock.advance(999);
    expect(news.isNew("a")).toBe(false);
    await clock.advance(1);
    expect([news.isNew("a"), news.isNew("a")]).toEqual([true, false]);
    await clock.advance(1_000);
    expect(news.isNew("a")).toBe(true);
  });
});
