import { expect, test } from "bun:test";
import { Contest, ROUNDS_MAX, WarningThrottle } from "../../lib/engine/throttle.ts";
import { ManualClock } from "../support/manual_clock.ts";

test("pauseMs() lets so many rounds pass within a minute, then waits for the oldest to be a minute old", async () => {
  const clock = new ManualClock();
  const contest = new Contest(clock);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    expect(contest.pauseMs("n")).toBe(0);
    contest.noteRound("n");
    await clock.advance(1_000);
  }
  expect(contest.pauseMs("n")).toBe(60_000 - ROUNDS_MAX * 1_000);
  await clock.advance(60_000 - ROUNDS_MAX * 1_000 - 1);
  expect(contest.pauseMs("n")).toBe(1);
  await clock.advance(1);
  expect(contest.pauseMs("n")).toBe(0);
  contest.noteRound("n");
  expect(contest.pauseMs("n")).toBe(1_000);
});

test("pauseMs() keeps a fight that never ends at its pace: five writes a minute", async () => {
  const clock = new ManualClock();
  const contest = new Contest(clock);
  let rounds = 0;
  for (let second = 0; second < 600; second += 1) {
    if (contest.pauseMs("n") === 0) {
      contest.noteRound("n");
      rounds += 1;
    }
    await clock.advance(1_000);
  }
  expect(rounds).toBe(10 * ROUNDS_MAX);
});

test("pauseMs() looks at each Node alone, and at none that was forgotten", () => {
  const contest = new Contest(new ManualClock());
  for (let round = 0; round < ROUNDS_MAX; round += 1) contest.noteRound("n");
  expect(contest.pauseMs("other")).toBe(0);
  expect(contest.pauseMs("n")).toBeGreaterThan(0);
  contest.forget("n");
  expect(contest.pauseMs("n")).toBe(0);
});

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
