import { expect, test } from "bun:test";
import {
  chooseLayers,
  countAtMost,
  countLimits,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/layers.ts";
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

// Three racks and two feeds; one host has no feed.
const PLACES = [
  [0, 10],
  [0, 11],
  [1, 10],
  [1, 11],
  [2, 10],
  [2, -1],
];
const HOSTS = PLACES.map((place, at) => toGroup(`h${at}`, place, place));

test("countLimits() counts the domains of each key, and hosts in none", () => {
  const reduced = reduce(toProblem([3, 0], HOSTS));
  const limits = countLimits(reduced.groups, reduced);
  expect(limits.map((ofRole) => ofRole.map((one) => one.domains.size + one.others))).toEqual([
    [3, 3],
    [0, 0],
  ]);
});

test("countAtMost() counts a key once that roles share", () => {
  const problem = {
    ...toProblem([2, 2], HOSTS),
    scopes: [
      ["rack", "a"],
      ["rack", "b"],
    ],
  };
  const reduced = reduce(problem);
  const limits = countLimits(reduced.groups, reduced);
  expect(countAtMost(reduced.groups, reduced, limits)).toBe(3);
});

test("chooseLayers() takes the two tightest keys of a role", () => {
  const hosts = PLACES.slice(0, 5).map((place, at) => toGroup(`h${at}`, [at + 20, ...place]));
  const reduced = reduce(toProblem([3], hosts));
  const layers = chooseLayers(reduced, countLimits(reduced.groups, reduced));
  expect(layers).toEqual({ first: [2], second: [1], isSecondShared: false });
});

test("chooseLayers() puts a key behind the hosts that all roles share", () => {
  const reduced = reduce({
    ...toProblem([1, 1], HOSTS),
    scopes: [
      ["rack", "feed"],
      ["room", "rack"],
    ],
  });
  expect(chooseLayers(reduced, countLimits(reduced.groups, reduced))).toMatchObject({
    first: [1, 0],
    second: [0, 1],
    isSecondShared: true,
  });
});
