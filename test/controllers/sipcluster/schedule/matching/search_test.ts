import { describe, expect, test } from "bun:test";
import {
  listOpen,
  reduceProblem,
  type ReducedProblem,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/reduction.ts";
import { countLimits } from "../../../../../lib/controllers/sipcluster/schedule/matching/layers.ts";
import type { Problem } from "../../../../../lib/controllers/sipcluster/schedule/matching/problem.ts";
import {
  type Found,
  searchPicks,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/search.ts";
import { Random } from "../../../../support/random.ts";
import {
  countBest,
  drawProblem,
  toGroup,
  toProblem,
} from "../../../../support/sipcluster/matching_problems.ts";

function reduce(problem: Problem): ReducedProblem {
  return reduceProblem(listOpen(problem), problem);
}

function search(problem: Problem, maxSteps = 1_000_000): Found {
  const reduced = reduce(problem);
  return searchPicks(reduced, {
    start: [],
    limits: countLimits(reduced.groups, reduced),
    maxSteps,
  });
}

describe("searchPicks()", () => {
  test("finds the largest choice from nothing", () => {
    for (let seed = 10_001; seed <= 11_000; seed += 1) {
      const problem = drawProblem(new Random(seed), 8);
      const { picks, isProven } = search(problem);
      expect([seed, picks.length, isProven]).toEqual([seed, countBest(problem), true]);
    }
  });

  test("proves by one flow that two crossing keys have no third place", () => {
    const places = [
      [0, 10],
      [0, 11],
      [1, 10],
      [1, 11],
      [2, 10],
      [2, 11],
    ];
    const hosts = places.map((place, at) => toGroup(`h${at}`, place));
    expect(search(toProblem([3], hosts), 0)).toMatchObject({ isProven: true });
  });

  test("keeps the choice that it starts from, if there is no better one", () => {
    const reduced = reduce(toProblem([2], [toGroup("a", [0]), toGroup("b", [0])]));
    const start = [{ role: 0, group: 0 }];
    const { picks } = searchPicks(reduced, {
      start,
      limits: countLimits(reduced.groups, reduced),
      maxSteps: 1_000,
    });
    expect(picks).toBe(start);
  });
});
