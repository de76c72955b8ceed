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

test("exchangePicks() drops what stands in the way of two others", () => {
  const start = [
    { role: 0, group: 0 },
    { role: 0, group: 3 },
  ];
  const { picks, steps } = exchangePicks(REDUCED, start, OPTIONS);
  expect(picks.map(({ group }) => group).toSorted()).toEqual([1, 3, 4]);
  expect(steps).toBeGreaterThan(0);
});

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

test("exchangePicks() hands a host to the role that has no other", () => {
  const hosts = [toGroup("a", [-1], [-1]), toGroup("b", [-1], undefined)];
  const reduced = reduce(toProblem([1, 1], hosts));
  const { picks } = exchangePicks(reduced, [{ role: 0, group: 0 }], { ...OPTIONS, goal: 2 });
  expect(new Set(picks.map(({ role, group }) => `${role} ${group}`))).toEqual(
    new Set(["1 0", "0 1"]),
  );
});
