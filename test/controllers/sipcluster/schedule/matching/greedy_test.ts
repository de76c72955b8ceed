import { expect, test } from "bun:test";
import {
  listByConstraint,
  pickGreedily,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/greedy.ts";
import { toGroup, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

const HOSTS = [toGroup("a", [0], [2]), toGroup("b", [0], undefined), toGroup("c", [1], undefined)];

test("listByConstraint() puts the role first that has the fewest hosts to spare", () => {
  expect(listByConstraint(toProblem([1, 1], HOSTS))).toEqual([1, 0]);
  expect(listByConstraint(toProblem([3, 1], HOSTS))).toEqual([0, 1]);
});

test("pickGreedily() takes the first hosts that fit, and no host twice", () => {
  expect(pickGreedily(toProblem([2, 1], HOSTS))).toEqual([
    { role: 1, group: 0 },
    { role: 0, group: 1 },
    { role: 0, group: 2 },
  ]);
});

test("pickGreedily() leaves the first hosts of a group to the role that took them", () => {
  const hosts = [toGroup("a b c", [], []), toGroup("d", [], undefined)];
  const picks = pickGreedily(toProblem([2, 2], hosts));
  expect(picks.map(({ role, group }) => `${role} ${group}`)).toEqual(["1 0", "1 0", "0 0", "0 1"]);
});

test("pickGreedily() leaves domains alone that are held", () => {
  const problem = { ...toProblem([3, 0], HOSTS), held: [{ alone: [0], beside: [] }] };
  expect(pickGreedily(problem)).toEqual([{ role: 0, group: 2 }]);
});
