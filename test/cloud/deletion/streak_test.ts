import { describe, expect, test } from "bun:test";
import {
  breakOffStreak,
  breakOffStreaks,
  DEFAULT_OUT_OF_SERVICE,
  describeOffWait,
  NO_OFF_STREAKS,
  observeOff,
  type OffStreaks,
} from "../../../lib/cloud/deletion/streak.ts";

/** Looks at inventories of these times; each is looked at when it was asked for. */
function observe(
  timesMs: readonly number[],
  state: OffStreaks = NO_OFF_STREAKS,
  off: readonly string[] = ["a"],
): OffStreaks {
  return timesMs.reduce(
    (before, atMs) => observeOff(before, { off, observedAtMs: atMs, nowMs: atMs }),
    state,
  );
}

function wait(state: OffStreaks, settings = DEFAULT_OUT_OF_SERVICE): string | undefined {
  return describeOffWait(state, "a", settings);
}

describe("describeOffWait()", () => {
  test.each<[string, OffStreaks, string | undefined]>([
    [
      "nothing",
      NO_OFF_STREAKS,
      "The cloud showed its instance as off in 0 of 2 inventories in a row",
    ],
    ["one", observe([0]), "The cloud showed its instance as off in 1 of 2 inventories in a row"],
    ["two too soon", observe([0, 29_999]), "Its instance has been off for 29s of 30s"],
    ["two over the grace period", observe([0, 30_000]), undefined],
    ["many over the grace period", observe([0, 10_000, 20_000, 30_000]), undefined],
  ])("says what is lacking after %s", (_what, state, expected) => {
    expect(wait(state)).toBe(expected);
  });

  test("counts an inventory once, however often it is looked at", () => {
    let state = observe([0]);
    for (const nowMs of [10_000, 40_000]) {
      state = observeOff(state, { off: ["a"], observedAtMs: 0, nowMs });
    }
    expect(wait(state)).toContain("1 of 2");
  });

  test("counts a late first answer from its arrival", () => {
    const first = observeOff(NO_OFF_STREAKS, { off: ["a"], observedAtMs: 0, nowMs: 25_000 });
    expect(wait(observe([30_000], first))).toContain("5s of 30s");
  });

  test("is never satisfied by settings that are no numbers", () => {
    const state = observe([0, 30_000, 60_000]);
    expect(wait(state, { confirmations: NaN, graceMs: 0 })).toBeDefined();
    expect(wait(state, { confirmations: 1, graceMs: NaN })).toBeDefined();
  });
});

describe("observeOff()", () => {
  test("starts from nothing for what was not off at any look, also at the same inventory", () => {
    const seen = observeOff(observe([0, 30_000]), { off: [], observedAtMs: 30_000, nowMs: 31_000 });
    expect(wait(observe([60_000], seen))).toContain("1 of 2");
  });

  test("starts from nothing without a good inventory", () => {
    const look = { off: ["a"], observedAtMs: undefined, nowMs: 31_000 };
    expect(wait(observe([60_000], observeOff(observe([0, 30_000]), look)))).toContain("1 of 2");
  });
});

test("breakOffStreaks() and breakOffStreak() wait for a newer inventory", () => {
  const state = observe([0, 30_000], NO_OFF_STREAKS, ["a", "b"]);
  expect(wait(observe([30_000], breakOffStreaks(state)))).toContain("0 of 2");
  const one = breakOffStreak(state, "a");
  expect(wait(one)).toContain("0 of 2");
  expect(describeOffWait(one, "b", DEFAULT_OUT_OF_SERVICE)).toBeUndefined();
});
