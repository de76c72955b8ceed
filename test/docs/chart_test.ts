import { describe, expect, test } from "bun:test";
import {
  type Chart,
  renderChart,
  toScale,
  toTicks,
} from "../../docs/generator/performance/chart.ts";

const CHART: Chart = {
  title: "Cost & N",
  description: 'What a "Node" costs: less < more',
  xTitle: "Nodes",
  yTitle: "seconds",
  series: [
    {
      name: "one",
      points: [
        [10, 1],
        [1_000, 100],
      ],
    },
    {
      name: "two",
      points: [
        [10, 2],
        [100, 0],
        [1_000, 2],
      ],
    },
  ],
};

describe("toTicks()", () => {
  const cases: readonly (readonly [readonly number[], readonly number[]])[] = [
    [
      [50, 95],
      [50, 60, 70, 80, 90, 100],
    ],
    [
      [3, 42],
      [2, 5, 10, 20, 50],
    ],
    [
      [1, 1],
      [1, 10],
    ],
    [
      [0.3, 0.4],
      [0.3, 0.4],
    ],
    [
      [7, 30_000],
      [1, 10, 100, 1_000, 10_000, 100_000],
    ],
    [[], [1, 10]],
    [
      [0, 5],
      [1, 10],
    ],
  ];
  for (const [values, wanted] of cases) {
    test(`gives ${wanted.join(" ")} for ${values.join(" ") || "nothing"}`, () => {
      expect(toTicks(values)).toEqual(wanted);
    });
  }
});

test("toScale() puts equal ratios at equal distances", () => {
  const scale = toScale([10, 1_000], [0, 200]);
  expect([10, 100, 1_000].map((value) => Math.round(scale(value)))).toEqual([0, 100, 200]);
  expect(toScale([5, 5], [0, 200])(5)).toBe(0);
});

describe("renderChart()", () => {
  const svg = renderChart(CHART);

  test("has a title and a description, escaped, that the picture is labelled by", () => {
    expect(svg).toContain('<title id="title">Cost &amp; N</title>');
    expect(svg).toContain("What a &quot;Node&quot; costs: less &lt; more</desc>");
    expect(svg).toContain('role="img" aria-labelledby="title desc"');
  });

  test("draws lines through the right places, and no point that a logarithm does not have", () => {
    const lines = [...svg.matchAll(/<polyline class="line s\d" .*? points="(.*?)"/g)];
    // 1 to 100 is all of the height: from the lower left to the upper right.
    expect(lines.map(([, points]) => points)).toEqual([
      "64.0,348.0 696.0,88.0",
      "64.0,308.9 696.0,308.9",
    ]);
  });

  test("has no number that is none, and is the same every time", () => {
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(renderChart({ ...CHART, series: [] })).not.toMatch(/NaN|Infinity|undefined/);
    expect(renderChart(CHART)).toBe(svg);
  });

  test("has other colours by night", () => {
    expect(svg).toContain("prefers-color-scheme: dark");
  });
});
