import { expect, test } from "bun:test";
import { formatFigures, toFigureRows } from "../../bench/budgets.ts";

test("toFigureRows() judges what has a goal, in the order of the budgets", () => {
  const rows = toFigureRows({ settled100: 45.1, start: 0.15, ready: 2 });
  expect(rows.map(({ measured, goal, verdict }) => [measured, goal, verdict])).toEqual([
    ["0.150 s", "<= 0.15", "ok"],
    ["2 s", "", ""],
    ["45.1 MiB", "<= 45", "OVER"],
  ]);
});

test("toFigureRows() takes what was never reached for over its goal", () => {
  expect(toFigureRows({ migration: Number.NaN }).map(({ verdict }) => verdict)).toEqual(["OVER"]);
  expect(toFigureRows({ initialise: Infinity }).map(({ verdict }) => verdict)).toEqual(["OVER"]);
});

test("formatFigures() says whether a figure is over its budget", () => {
  expect(formatFigures({ start: 0.1 }).over).toBe(false);
  expect(formatFigures({ start: 0.1, settled100: 60 }).over).toBe(true);
});
