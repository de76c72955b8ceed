import { expect, test } from "bun:test";
import {
  countPicks,
  listByConstraint,
  pickGreedily,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/greedy.ts";
import { toCandidate, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

const HOSTS = [
  toCandidate("a", [0], [2]),
  toCandidate("b", [0], undefined),
  toCandidate("c", [1], undefined),
];

test("listByConstraint() puts the role first that has the fewest hosts to spare", () => {
  expect(listByConstraint(toProblem([1, 1], HOSTS))).toEqual([1, 0]);
  expect(listByConstraint(toProblem([3, 1], HOSTS))).toEqual([0, 1]);
});

test("pickGreedily() takes the first hosts that fit, and no host twice", () => {
  const picks = pickGreedily(toProblem([2, 1], HOSTS));
  expect(picks.map((ones) => ones.map(({ host }) => host))).toEqual([["b", "c"], ["a"]]);
  expect(countPicks(picks)).toBe(3);
});

test("pickGreedily() leaves domains alone that are held", () => {
  const problem = { ...toProblem([3, 0], HOSTS), held: [{ alone: [0], beside: [] }] };
  expect(pickGreedily(problem)[0]?.map(({ host }) => host)).toEqual(["c"]);
});
