import { expect, test } from "bun:test";
import { Bar, KindBar, Mark, toNodePath } from "../../../lib/http/page/marks.tsx";
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

function readWidths(bar: unknown): number[] {
  return [...String(bar).matchAll(/ width="([\d.]+)"/g)].map(([, width]) => Number(width));
}

test("Bar() lets one Node of a thousand be seen", () => {
  const counts = [
    ["missing", 1],
    ["well", 999],
  ] as const;
  const [one = 0, others = 0] = readWidths(Bar({ counts }));
  expect(one).toBeGreaterThan(0.5);
  expect(one + others).toBeCloseTo(100);
});

test("KindBar() shows objects of other kinds by their shares, and nothing without any", () => {
  const states = { free: { word: "free", looksLike: "foreign" } } as const;
  expect(KindBar({ counts: [], states })).toBeNull();
  const counts = [
    ["free", 1],
    ["free", 3],
  ] as const;
  const bar = KindBar({ counts, states });
  expect(readWidths(bar)).toEqual([25, 75]);
  expect(String(bar)).toContain('class="s-foreign"');
});

test("toNodePath() leaves no way out of the path", () => {
  expect(toNodePath("", "../a?b#c")).toBe("nodes/..%2Fa%3Fb%23c");
});
