import { expect, test } from "bun:test";
import { exchangePicks } from "../../../../../lib/controllers/sipcluster/schedule/matching/exchange.ts";
import type { Problem } from "../../../../../lib/controllers/sipcluster/schedule/matching/problem.ts";
import {
  listOpen,
  reduceProblem,
  type ReducedProblem,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/reduction.ts";
import { toGroup, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

function reduce(problem: Problem): ReducedProblem {
  return reduceProblem(listOpen(problem), problem);
}

const OPTIONS = { goal: 3, maxSteps: 10_000 };
const REDUCED = reduce(
  toProblem(
    [3],
    [
      [0, 10],
      [0, 11],
      [1, 10],
      [1, 12],
      [2, 10],
    ].map((place, at) => toGroup(`h${at}`, place)),
  ),
);

test("exchangePicks() returns the start if it finds nothing better, or has no steps", () => {
  const start = [
    { role: 0, group: 1 },
    { role: 0, group: 2 },
  ];
  expect(exchangePicks(REDUCED, start, { ...OPTIONS, maxSteps: 0 }).picks).toEqual(start);
  expect(exchangePicks(REDUCED, start, { ...OPTIONS, goal: 2 }).picks).toEqual(start);
  const two = reduce(
    toProblem(
      [3],
      ["a", "b"].map((host) => toGroup(host, [0])),
    ),
  );
  expect(exchangePicks(two, [{ role: 0, group: 0 }], OPTIONS).picks).toHaveLength(1);
});
