import { expect, test } from "bun:test";
import { Bar, formatCount, Mark, Tally, Tiles, toNodePath } from "../../../lib/http/page/marks.tsx";
import { STATE_NAMES, STATES } from "../../../lib/http/page/state.ts";
import { STYLE } from "../../../lib/http/page/style.ts";
import { toCards } from "../../../lib/http/page/topology/mod.ts";
import { toLostView, toNodeView } from "../../support/page/node_views.ts";

test("Mark() has a shape and a word of its own for every state", () => {
  const shapes = STATE_NAMES.map((state) => {
    expect(String(Mark({ state }))).toContain(`s-${state}">${STATES[state].word}<`);
    return new RegExp(`\\.s-${state}::before\\{([^}]+)\\}`).exec(STYLE)?.[1];
  });
  expect(shapes).not.toContain(undefined);
  expect(new Set(shapes).size).toBe(STATE_NAMES.length);
  expect(new Set(STATE_NAMES.map((state) => STATES[state].word)).size).toBe(STATE_NAMES.length);
});

test("Bar() divides its width by the counts", () => {
  const html = String(
    Bar({
      counts: [
        ["missing", 1],
        ["well", 3],
      ],
    }),
  );
  expect(html).toContain('<rect class="s-missing" x="0.00" width="25.00"');
  expect(html).toContain('<rect class="s-well" x="25.00" width="75.00"');
});

test("Bar() lets one Node of a thousand be seen", () => {
  const html = String(
    Bar({
      counts: [
        ["missing", 1],
        ["well", 999],
      ],
    }),
  );
  const widths = [...html.matchAll(/ width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths[0]).toBeGreaterThan(0.5);
  expect((widths[0] ?? 0) + (widths[1] ?? 0)).toBeCloseTo(100);
});

test("Tally() counts in words", () => {
  expect(String(Tally({ counts: [["well", 3]] }))).toContain("3 in sync");
});

test("Tiles() spells out every state but that of a Node that is well", () => {
  const cards = toCards([toNodeView("a"), toLostView("b", "denied")]);
  const html = String(Tiles({ cards, base: "../" }));
  expect(html).toContain('<a class="dot s-well" href="../nodes/a">a</a>');
  expect(html).toContain('href="../nodes/b">b<i>unknown</i></a>');
});

test("toNodePath() leaves no way out of the path", () => {
  expect(toNodePath("", "../a?b#c")).toBe("nodes/..%2Fa%3Fb%23c");
});

test("formatCount() counts one and many", () => {
  expect(formatCount(1, "Node")).toBe("1 Node");
  expect(formatCount(1_234, "Node")).toBe("1,234 Nodes");
});
