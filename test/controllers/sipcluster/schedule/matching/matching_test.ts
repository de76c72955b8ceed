import { describe, expect, test } from "bun:test";
import {
  type Problem,
  findMatching,
} from "../../../../../lib/controllers/sipcluster/schedule/matching.ts";
import { Random } from "../../../../support/random.ts";
import {
  countBest,
  drawProblem,
  findFault,
  toGroup,
  toProblem,
} from "../../../../support/sipcluster/matching_problems.ts";
import { tries } from "../../../../support/extent.ts";
import { longTest } from "../../../../support/long_tests.ts";

const ENOUGH = { maxSteps: 1_000_000, maxGroups: 10_000 };

function sum(needs: readonly number[]): number {
  return needs.reduce((total, need) => total + need, 0);
}

function nameHosts(problem: Problem): readonly string[] {
  return findMatching(problem, ENOUGH).picks.map((hosts) => hosts.join(" "));
}

describe("findMatching()", () => {
  longTest("agrees with a search that tries every choice", () => {
    const seeds = tries(10_000).numRuns;
    let full = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      const problem = drawProblem(new Random(seed), 9);
      const { picks, isFull, isProven } = findMatching(problem, ENOUGH);
      const count = countBest(problem);
      const best = {
        fault: undefined,
        count,
        isFull: count === sum(problem.needs),
        isProven: true,
      };
      const found = { fault: findFault(problem, picks), count: picks.flat().length };
      expect({ seed, ...found, isFull, isProven }).toEqual({ seed, ...best });
      full += isFull ? 1 : 0;
    }
    // Both answers are common.
    expect(full / seeds).toBeGreaterThan(0.25);
    expect(full / seeds).toBeLessThan(0.75);
  });

  test("never chooses what does not fit, and never claims a proof, with hardly a step to search", () => {
    let cut = 0;
    for (let seed = 1; seed <= tries(3_000).numRuns; seed += 1) {
      const problem = drawProblem(new Random(seed), 9);
      const { picks, isFull, isProven } = findMatching(problem, { maxSteps: 40, maxGroups: 4 });
      const best = countBest(problem);
      const wanted = sum(problem.needs);
      expect([seed, findFault(problem, picks)]).toEqual([seed, undefined]);
      if (isFull) expect(best).toBe(wanted);
      if (isProven && !isFull) expect([seed, best < wanted]).toEqual([seed, true]);
      cut += isProven ? 0 : 1;
    }
    expect(cut).toBeGreaterThan(0);
  });

  test("takes the first hosts if they fit, for the most constrained role first", () => {
    const hosts = ["a", "b", "c", "d"].map((host, at) => toGroup(host, [at], [at + 4]));
    expect(nameHosts(toProblem([1, 2], hosts))).toEqual(["c", "a b"]);
  });

  test("finds the last choice where roles compete for hosts", () => {
    // Each role may take one host of each rack. Only b suits both.
    const hosts = [
      toGroup("a", [0], undefined),
      toGroup("b", [0], [2]),
      toGroup("c", undefined, [3]),
      toGroup("d", undefined, [3]),
    ];
    expect(nameHosts(toProblem([1, 2], hosts))).toEqual(["a", "b c"]);
  });

  test("finds the last choice for two keys", () => {
    const places = [
      [0, 10],
      [0, 11],
      [1, 10],
      [1, 12],
      [2, 10],
    ];
    const hosts = places.map((place, at) => toGroup("abcde"[at] ?? "", place));
    expect(nameHosts(toProblem([3], hosts))).toEqual(["b d e"]);
  });

  test("says so when it reaches its limit", () => {
    // Six racks, feeds and rooms, but no six hosts that share none: a greedy choice and each single key allow six.
    const random = new Random(4);
    const hosts = Array.from({ length: 14 }, (_, at) =>
      toGroup(`h${at}`, [at % 6, 6 + random.between(0, 5), 12 + random.between(0, 5)]),
    );
    const problem = toProblem([6], hosts);
    expect(countBest(problem)).toBeLessThan(6);
    expect(findMatching(problem, { ...ENOUGH, maxSteps: 10 })).toMatchObject({
      isFull: false,
      isProven: false,
    });
    expect(findMatching(problem, ENOUGH)).toMatchObject({ isFull: false, isProven: true });
  });

  test("fills all racks and feeds of a pool from a sample of its groups, and proves what is impossible", () => {
    const random = new Random(7);
    const hosts = Array.from({ length: 2_000 }, (_, at) =>
      toGroup(
        `h${at}`,
        [0, 40].map((start) => start + random.between(0, 39)),
      ),
    );
    const few = { maxSteps: 60_000, maxGroups: 400 };
    const problem = toProblem([40], hosts);
    const { picks, isFull } = findMatching(problem, few);
    expect(findFault(problem, picks)).toBeUndefined();
    expect(isFull).toBe(true);
    expect(findMatching(toProblem([41], hosts), few)).toMatchObject({
      isFull: false,
      isProven: true,
    });
  });

  test("keeps the hosts of small racks if it looks only at some of the groups", () => {
    const random = new Random(2);
    const hosts = Array.from({ length: 240 }, (_, at) => {
      const place = [random.between(0, 19), 100 + random.between(0, 19)];
      return toGroup(`h${at}`, at % 6 === 5 ? [1_000 + at, 2_000 + at] : place);
    });
    const { isFull } = findMatching(toProblem([60], hosts), { maxSteps: 60_000, maxGroups: 120 });
    expect(isFull).toBe(true);
  });

  test("solves a pool of many racks, feeds and rooms with no place to spare", () => {
    const random = new Random(4);
    const hosts = Array.from({ length: 400 }, (_, at) =>
      toGroup(
        `h${at}`,
        [0, 20, 40].map((start) => start + random.between(0, 19)),
      ),
    );
    const problem = toProblem([20], hosts);
    const { picks, isFull } = findMatching(problem, { maxSteps: 60_000, maxGroups: 3_000 });
    expect(findFault(problem, picks)).toBeUndefined();
    expect(isFull).toBe(true);
  });
});
