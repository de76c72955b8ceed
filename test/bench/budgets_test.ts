import { expect, test } from "bun:test";
import type { CloudName } from "../../bench/clouds/mod.ts";
import { formatFigures, toFigureRows } from "../../bench/budgets.ts";

test("toFigureRows() judges what has a goal, in the order of the budgets", () => {
  const rows = toFigureRows({ own100: 21.1, start: 0.15, ready: 2 }, "xenorchestra");
  expect(rows.map(({ measured, goal, verdict }) => [measured, goal, verdict])).toEqual([
    ["0.150 s", "<= 0.15", "ok"],
    ["2 s", "", ""],
    ["21.1 MiB", "<= 21", "OVER"],
  ]);
});

test("toFigureRows() takes what was never reached for over its goal", () => {
  expect(
    toFigureRows({ migration: Number.NaN }, "xenorchestra").map(({ verdict }) => verdict),
  ).toEqual(["OVER"]);
  expect(
    toFigureRows({ initialise: Infinity }, "xenorchestra").map(({ verdict }) => verdict),
  ).toEqual(["OVER"]);
});

test("formatFigures() says whether a figure is over its budget", () => {
  expect(formatFigures({ start: 0.1 }, "xenorchestra").over).toBe(false);
  expect(formatFigures({ start: 0.1, own100: 60 }, "xenorchestra").over).toBe(true);
});

test("toFigureRows() takes a goal that is one cloud's own for that cloud alone", () => {
  const figures = { initialise: 4, idleCloud1000: 5, restOwn: 60, more1000: 3.1 };
  const judge = (cloud: CloudName): readonly string[] =>
    toFigureRows(figures, cloud).map(({ goal, verdict }) => `${goal} ${verdict}`);
  expect(judge("xenorchestra")).toEqual(["<= 19 OVER", "<= 5 ok", "<= 6 ok", "<= 3 OVER"]);
  expect(judge("cloudstack")).toEqual([" ", "<= 3 OVER", "<= 4 OVER", "<= 3 OVER"]);
});
