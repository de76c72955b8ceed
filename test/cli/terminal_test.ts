import { expect, test } from "bun:test";
import { findWidth } from "../../lib/cli/terminal.ts";

test.each<[string | undefined, number | undefined, number]>([
  [undefined, undefined, Infinity],
  [undefined, 100, 100],
  [undefined, 0, Infinity],
  ["72", 100, 72],
  ["72", undefined, 72],
  ["0", 100, 100],
  ["wide", undefined, Infinity],
  ["", 90, 90],
])("findWidth() with COLUMNS=%p in a terminal of %p is %d", (COLUMNS, columns, width) => {
  expect(findWidth({ env: { COLUMNS }, columns: () => columns })).toBe(width);
});

test("findWidth() has no limit in a pipe", () => {
  expect(findWidth({ env: {} })).toBe(Infinity);
});
