import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import {
  breakOffStreak,
  breakOffStreaks,
  DEFAULT_OUT_OF_SERVICE,
  describeOffWait,
  extendStreak,
  judgeStreak,
  NO_OFF_STREAKS,
  observeOff,
  type OffStreaks,
  PART_LOST_HOLD_OFF_MS,
  type Streak,
} from "../../../lib/cloud/deletion/streak.ts";

const MINUTE_MS = 60_000;

/** A streak of three that spans so long. */
function toStreak(spanMs: number, isPartLost: boolean = false): Streak {
  return { observations: 3, firstMs: 5, lastMs: 5 + spanMs, isPartLost };
}

describe("extendStreak()", () => {
  test("begins at the look, and ends at the question of the last inventory, but no sooner", () => {
    const first = extendStreak(undefined, 100, 50);
    expect(first).toEqual({ observations: 1, firstMs: 100, lastMs: 100 });
    expect(extendStreak(first, 300, 250)).toEqual({ observations: 2, firstMs: 100, lastMs: 250 });
  });

  test("goes on to be one while another part of the cloud is lost", () => {
    expect(extendStreak(toStreak(0, true), 300, 250).isPartLost).toBe(true);
  });
});

describe("judgeStreak()", () => {
  test.each([
    ["none", undefined, "confirmations"],
    ["too few", { observations: 2, firstMs: 0, lastMs: MINUTE_MS }, "confirmations"],
    ["too short", toStreak(MINUTE_MS - 1), "holdOff"],
    ["long enough", toStreak(MINUTE_MS), undefined],
    ["too short while a part is lost", toStreak(PART_LOST_HOLD_OFF_MS - 1, true), "holdOff"],
    ["long enough while a part is lost", toStreak(PART_LOST_HOLD_OFF_MS, true), undefined],
  ] as const)("a streak that is %s", (_title, streak, reason) => {
    expect(judgeStreak(streak, DEFAULT_DELETION)?.reason).toBe(reason);
  });

  test("keeps a hold-off that is longer than ten minutes while a part is lost", () => {
    const settings = { ...DEFAULT_DELETION, holdOffMs: 60 * MINUTE_MS };
    expect(judgeStreak(toStreak(PART_LOST_HOLD_OFF_MS, true), settings)?.reason).toBe("holdOff");
  });

  test("says why it takes longer", () => {
    const { message } = judgeStreak(toStreak(MINUTE_MS, true), DEFAULT_DELETION) ?? {};
    expect(message).toContain("1m0s of 10m0s, which is longer because another part");
  });
});

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
