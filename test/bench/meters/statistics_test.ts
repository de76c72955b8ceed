import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toQuantile, toTrend } from "../../../bench/meters/statistics.ts";
import { Random } from "../../support/random.ts";

describe("toQuantile()", () => {
  const cases: readonly (readonly [readonly number[], number, number])[] = [
    [[3, 1, 2], 0.5, 2],
    [[10, 9], 0.5, 10],
    [[5], 0.99, 5],
    [[1, 2, 3, 4], 1, 4],
    [[], 0.5, Number.NaN],
  ];
  for (const [values, share, wanted] of cases) {
    test(`gives ${wanted} as ${share} of ${JSON.stringify(values)}`, () => {
      expect(toQuantile(values, share)).toBe(wanted);
    });
  }
});

describe("toTrend()", () => {
  test("finds a straight line, and is sure of it", () => {
    const trend = toTrend([0, 1, 2, 3].map((x): [number, number] => [x, 7 + 2 * x]));
    expect(trend.slope).toBeCloseTo(2, 12);
    expect(trend.error).toBeLessThan(1e-6);
  });

  test("is not sure of two points", () => {
    expect(
      toTrend([
        [0, 1],
        [1, 2],
      ]).error,
    ).toBeNaN();
  });

  test("gives the textbook's error where neighbours have nothing in common", () => {
    // Residuals +1 -1 -1 +1: their neighbours' products add up to less than nothing.
    const { slope, error } = toTrend([
      [0, 1],
      [1, -1],
      [2, -1],
      [3, 1],
    ]);
    expect(slope).toBeCloseTo(0, 12);
    expect(error).toBeCloseTo(Math.sqrt(4 / 2 / 5), 12);
  });

  test("tells a true slope from noise, and noise from a slope", () => {
    let missed = 0;
    let invented = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const random = new Random(seed).next;
      const noise = Array.from({ length: 120 }, () => random() * 2 - 1);
      const flat = toTrend(noise.map((y, x): [number, number] => [x / 120, y]));
      const steep = toTrend(noise.map((y, x): [number, number] => [x / 120, y + x / 60]));
      if (flat.slope > 2 * flat.error) invented += 1;
      if (steep.slope <= 2 * steep.error) missed += 1;
    }
    expect(missed).toBe(0);
    expect(invented).toBeLessThan(15);
  });

  test("is less sure when what is measured wanders", () => {
    const random = new Random(1).next;
    const steps = Array.from({ length: 200 }, () => random() - 0.5);
    let at = 0;
    const wandering = steps.map((step, x): [number, number] => [x, (at += step)]);
    const ordered = [...wandering].map(([x], index): [number, number] => [
      x,
      wandering[(index * 77) % 200]?.[1] ?? 0,
    ]);
    expect(toTrend(wandering).error).toBeGreaterThan(2 * toTrend(ordered).error);
  });

  test("does not depend on where zero is", () => {
    const points = fc.array(
      fc.tuple(fc.integer(), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
      {
        minLength: 3,
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(points, (drawn) => {
        const line = drawn.map(([, y], x): [number, number] => [x, y]);
        const moved = line.map(([x, y]): [number, number] => [x + 1_000, y + 1_000]);
        expect(toTrend(moved).slope).toBeCloseTo(toTrend(line).slope, 4);
      }),
    );
  });
});
