import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import {
  extendStreak,
  judgeStreak,
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
