/**
 * How long to wait before the next try.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toBackoffMs } from "../../lib/core/backoff.ts";

const still = { baseMs: 1000, capMs: 30_000, random: () => 0 };

describe("toBackoffMs()", () => {
  test.each([
    [-1, 0],
    [0, 0],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 30_000],
    [10_000, 30_000],
  ])("waits after %i failures for %i ms", (failures, expected) => {
    expect(toBackoffMs(failures, still)).toBe(expected);
  });

  test("stays finite however often it failed, even without a cap", () => {
    expect(toBackoffMs(1e9, { ...still, capMs: Infinity })).toBe(1000 * 2 ** 52);
  });

  test.each([
    [undefined, 0.5, 1500],
    [undefined, 0.999, 1999],
    [0.2, 0.5, 1100],
    [0, 0.5, 1000],
  ])(
    "adds jitter %p of the delay times %p, never less than the delay",
    (jitter, random, expected) => {
      const options = { ...still, random: () => random, ...(jitter !== undefined && { jitter }) };
      expect(toBackoffMs(1, options)).toBeCloseTo(expected, 6);
    },
  );

  test("adds jitter on top of the cap", () => {
    expect(toBackoffMs(20, { ...still, random: () => 0.5 })).toBe(45_000);
  });
});
