import { describe, expect, test } from "bun:test";
import {
  listOpen,
  reduceProblem,
  type ReducedProblem,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/reduction.ts";
import { countLimits } from "../../../../../lib/controllers/sipcluster/schedule/matching/layers.ts";
import type { Problem } from "../../../../../lib/controllers/sipcluster/schedule/matching/problem.ts";
import { searchPicks } from "../../../../../lib/controllers/sipcluster/schedule/matching/search.ts";
import { toGroup, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

function reduce(problem: Problem): ReducedProblem {
  return reduceProblem(listOpen(problem), problem);
}

describe("searchPicks()", () => {
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
