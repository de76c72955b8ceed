import { expect, test } from "bun:test";
import {
  listOpen,
  reduceProblem,
  toOriginalPicks,
  toReducedPicks,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/reduction.ts";
import type { Problem } from "../../../../../lib/controllers/sipcluster/schedule/matching/problem.ts";
import { toGroup, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

/** `a b: 0 -1`: the hosts of each group, and where they must be alone. */
function describeGroups(problem: Problem): readonly string[] {
  return reduceProblem(listOpen(problem), problem).groups.map(({ sources, size, demands }) => {
    const hosts = sources.flatMap(({ group }) => problem.groups[group]?.hosts ?? []);
    expect(hosts).toHaveLength(size);
    return `${hosts.join(" ")}: ${demands.map((one) => one?.alone.join(" ") ?? "no").join(" | ")}`;
  });
}

test("reduceProblem() puts hosts of one rack together, and forgets racks with one host", () => {
  const hosts = [toGroup("a", [0]), toGroup("b", [0]), toGroup("c", [1]), toGroup("d", [2])];
  expect(describeGroups(toProblem([2], hosts))).toEqual(["a b: 0", "c d: -1"]);
});

test("reduceProblem() forgets servers within racks, and one of two keys that say the same", () => {
  const nested = [
    [0, 5],
    [0, 5],
    [0, 6],
    [1, 7],
    [1, 7],
  ];
  const hosts = nested.map((place, at) => toGroup(`h${at}`, place));
  expect(describeGroups(toProblem([2], hosts))).toEqual(["h0 h1 h2: 0 -1", "h3 h4: -1 7"]);
});

test("reduceProblem() keeps two keys that cross", () => {
  const crossed = [
    [0, 5],
    [0, 6],
    [1, 5],
    [1, 6],
  ];
  const hosts = crossed.map((place, at) => toGroup(`h${at}`, place));
  expect(describeGroups(toProblem([2], hosts))).toEqual([
    "h0: 0 5",
    "h1: 0 6",
    "h2: 1 5",
    "h3: 1 6",
  ]);
});

test("reduceProblem() drops what is held, and roles that need nothing", () => {
  const hosts = [toGroup("a", [0], [2]), toGroup("b", [1], [2]), toGroup("c", [1], [3])];
  const held = [{ alone: [0], beside: [] }];
  expect(describeGroups({ ...toProblem([1, 0], hosts), held })).toEqual(["b c: 1 | no"]);
});

test("reduceProblem() keeps a rack with one group of several hosts", () => {
  expect(describeGroups(toProblem([2], [toGroup("a b", [0]), toGroup("c", [1])]))).toEqual([
    "a b: 0",
    "c: -1",
  ]);
});

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
