import { expect, test } from "bun:test";
import { Bar, Mark, toNodePath } from "../../../lib/http/page/marks.tsx";
import { STATE_NAMES, STATES } from "../../../lib/http/page/state.ts";
import { STYLE } from "../../../lib/http/page/style.ts";

test("Mark() has a shape and a word of its own for every state", () => {
  const shapes = STATE_NAMES.map((state) => {
    expect(String(Mark({ state }))).toContain(`s-${state}">${STATES[state].word}<`);
    return new RegExp(`\\.s-${state}::before\\{([^}]+)\\}`).exec(STYLE)?.[1];
  });
  expect(shapes).not.toContain(undefined);
  expect(new Set(shapes).size).toBe(STATE_NAMES.length);
  expect(new Set(STATE_NAMES.map((state) => STATES[state].word)).size).toBe(STATE_NAMES.length);
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

test("toNodePath() leaves no way out of the path", () => {
  expect(toNodePath("", "../a?b#c")).toBe("nodes/..%2Fa%3Fb%23c");
});
