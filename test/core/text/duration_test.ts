/**
 * Durations in all Go forms.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { assert, integer, property } from "fast-check";
import {
  describeDurationRange,
  formatDuration,
  parseDuration,
  parseDurationWithin,
} from "../../../lib/core/text/duration.ts";

describe("parseDuration()", () => {
  const good: readonly [string, number][] = [
    ["0", 0],
    ["0s", 0],
    ["300ms", 300],
    ["1.5s", 1_500],
    [".5s", 500],
    ["1.s", 1_000],
    ["5m0s", 300_000],
    ["1h30m", 5_400_000],
    ["1h15m30.918s", 4_530_918],
    ["90m", 5_400_000],
    ["-2s", -2_000],
    ["+2s", 2_000],
    ["-0", 0],
    ["10us", 0.01],
    ["1us", 0.001],
    ["10\u00b5s", 0.01],
    ["10\u03bcs", 0.01],
    ["500ns", 0.0005],
    ["60s", 60_000],
    ["2562047h", 2_562_047 * 3_600_000],
  ];
  test.each(good)("parseDuration() reads %j", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  const bad = ["", " ", "5", "-", "+", "s", ".s", "1d", "1h 30m", "5 m", "1e3s", "--1s", "1m-1s"];
  const worse = ["1S", "0x1s", "1,5s", "1..5s", "3m5", "NaN", "99999999h", "0\ns", "60s\n"];
  test.each([...bad, ...worse])("parseDuration() rejects %j and quotes it", (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
    expect(() => parseDuration(text)).toThrow(`"${text}"`);
  });
});

describe("parseDurationWithin()", () => {
  test.each([
    ["1s", 1_000],
    ["1m", 60_000],
    ["999ms", undefined],
    ["1m1us", undefined],
    ["soon", undefined],
  ])("parseDurationWithin() of %j, from 1s to 1m, is %p", (text, ms) => {
    expect(parseDurationWithin(text, 1_000, 60_000)).toBe(ms);
  });
});

test("describeDurationRange() says the bounds and the unit", () => {
  expect(describeDurationRange(1_000, 3_600_000, "30s")).toBe(
    'a duration from 1s to 1h, for example "30s"',
  );
});

describe("formatDuration()", () => {
  const cases: readonly [number, string][] = [
    [0, "0s"],
    [0.0004, "0s"],
    [0.25, "250us"],
    [1.5, "1.5ms"],
    [300, "300ms"],
    [1_500, "1.5s"],
    [60_000, "1m0s"],
    [300_000, "5m0s"],
    [5_400_000, "1h30m0s"],
    [3_600_000, "1h0m0s"],
    [-2_000, "-2s"],
  ];
  test.each(cases)("formatDuration() shows %d ms as Go does", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("formatDuration() is read back by parseDuration() for every microsecond", () => {
    assert(
      property(integer({ min: -1e13, max: 1e13 }), (micros) => {
        expect(parseDuration(formatDuration(micros / 1_000))).toBeCloseTo(micros / 1_000, 3);
      }),
    );
  });
});
