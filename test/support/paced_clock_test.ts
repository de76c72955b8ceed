import { expect, test } from "bun:test";
import { PacedClock } from "./paced_clock.ts";

const NEVER = new AbortController().signal;

test("sleep() of a PacedClock ends when its time has come, however the pace changes", async () => {
  const clock = new PacedClock(0);
  let isOver = false;
  const slept = clock.sleep(60_000, NEVER).then(() => (isOver = true));
  await Bun.sleep(5);
  expect([clock.monotonic(), isOver]).toEqual([0, false]);
  clock.setPace(10_000);
  await slept;
  expect(clock.monotonic()).toBeGreaterThan(50_000);
  clock.setPace(0);
  const stoodMs = clock.monotonic();
  await Bun.sleep(5);
  expect(clock.monotonic()).toBe(stoodMs);
});

test("sleep() of a PacedClock that stands still ends with its signal", async () => {
  const stop = new AbortController();
  const slept = new PacedClock(0).sleep(1, stop.signal);
  stop.abort(new Error("over"));
  await expect(slept).rejects.toThrow("over");
});

test("PacedClock.now() has no fractions of a millisecond, as the system clock", async () => {
  const clock = new PacedClock(1_000.5);
  await Bun.sleep(2);
  expect(clock.now() % 1).toBe(0);
  expect(clock.monotonic()).toBeGreaterThan(0);
});
