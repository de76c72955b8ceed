import { expect, test } from "bun:test";
import { Process } from "./process.ts";
import { Timeline } from "../timeline.ts";

test("a wall clock has whole milliseconds, however fast it goes", async () => {
  const timeline = new Timeline();
  const { clock } = new Process("a1", timeline, { rate: 1.01, skewMs: 0 });
  await timeline.advance(1_234.5);
  expect([timeline.now(), clock.now()].map(Number.isSafeInteger)).toEqual([true, true]);
  expect(clock.now() - timeline.now()).toBe(12);
});

test("Process.skipPauses() goes back to before the pause in which a moment lies, or right after", async () => {
  const timeline = new Timeline();
  const process = new Process("a1", timeline, { rate: 1, skewMs: 0 });
  await timeline.advance(20_000);
  process.pause();
  await timeline.advance(10_000);
  process.resume();
  await timeline.advance(20_000);

  const moments = [15_000, 25_000, 33_000, 45_000].map((atMs) => process.skipPauses(atMs));
  expect(moments).toEqual([15_000, 14_000, 14_000, 45_000]);
});
