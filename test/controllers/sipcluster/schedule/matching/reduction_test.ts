import { expect, test } from "bun:test";
import {
  listOpen,
  reduceProblem,
  toOriginalPicks,
  toReducedPicks,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/reduction.ts";
import { toGroup, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

test("reduceProblem() keeps domains in which others only stand beside", () => {
  const beside = (domain: number) => [undefined, { alone: [], beside: [domain] }];
  const groups = [
    { hosts: ["a"], demands: [{ alone: [0], beside: [] }, undefined] },
    { hosts: ["b"], demands: beside(0) },
    { hosts: ["c"], demands: beside(0) },
    { hosts: ["d"], demands: beside(1) },
  ];
  const problem = { ...toProblem([1, 2], groups), scopes: [["key"], []], sharesDomains: true };
  const reduced = reduceProblem(listOpen(problem), problem);
  expect(reduced.groups.map(({ size }) => size)).toEqual([1, 2, 1]);
  expect(reduced.groups[2]?.demands).toEqual([undefined, { alone: [], beside: [] }]);
});

test("picks go to what remains of a problem and back", () => {
  const problem = toProblem([3], [toGroup("a b", [0]), toGroup("c", [1]), toGroup("d", [2])]);
  const reduced = reduceProblem(listOpen(problem), problem);
  const picks = [0, 1, 2].map((group) => ({ role: 0, group }));
  const there = toReducedPicks(picks, reduced);
  expect(there.map(({ group }) => group)).toEqual([0, 1, 1]);
  expect(toOriginalPicks(there, reduced)).toEqual(picks);
  const some = reduceProblem(listOpen(problem).slice(1), problem);
  expect(toReducedPicks(picks, some)).toHaveLength(2);
});
