import { describe, expect, test } from "bun:test";
import { type CurvePoint, listBends, toExponent } from "../../bench/curve.ts";

function toPoint(nodes: number, more: Partial<CurvePoint> = {}): CurvePoint {
  const flat = { cloudRequests: 4, cloudBytes: 2 ** 20, requests: 10, bytes: 2 ** 21 };
  return { nodes, seconds: 1, cpuSeconds: 1, ...flat, peak: 50, settled: 45, ...more };
}

describe("toExponent()", () => {
  const cases: readonly (readonly [string, (nodes: number) => number, number])[] = [
    ["a constant", () => 7, 0],
    ["a line", (nodes) => 3 * nodes, 1],
    ["a square", (nodes) => nodes ** 2 / 5, 2],
    ["a root", (nodes) => Math.sqrt(nodes), 0.5],
  ];
  for (const [what, cost, wanted] of cases) {
    test(`finds ${wanted} in ${what}`, () => {
      expect(toExponent([300, cost(300)], [1_000, cost(1_000)])).toBeCloseTo(wanted, 12);
    });
  }
});

describe("listBends()", () => {
  test("is silent about what is linear or better", () => {
    const points = [100, 1_000].map((nodes) => toPoint(nodes, { bytes: nodes * 100 }));
    expect(listBends(points)).toEqual([]);
  });

  test("names what bends, and where", () => {
    const points = [100, 1_000, 5_000].map((nodes) =>
      toPoint(nodes, { cpuSeconds: nodes > 1_000 ? 25 : 1 }),
    );
    expect(listBends(points)).toEqual(["processor time, 1,000 to 5,000 Nodes: 2.00"]);
  });

  test("says nothing about what was never measured", () => {
    expect(listBends([toPoint(10, { seconds: Infinity }), toPoint(100, { seconds: 0 })])).toEqual(
      [],
    );
    expect(listBends([])).toEqual([]);
  });
});
