import { expect, test } from "bun:test";
import { groupCandidates } from "../../../../../lib/controllers/sipcluster/schedule/matching/groups.ts";
import type { Problem } from "../../../../../lib/controllers/sipcluster/schedule/matching/problem.ts";
import { toCandidate, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

/** `a b: 0 -1`: the hosts of each group, and where they must be alone. */
function describeGroups(problem: Problem): readonly string[] {
  return groupCandidates(problem).groups.map(({ candidates, demands }) => {
    const hosts = candidates.map(({ host }) => host).join(" ");
    return `${hosts}: ${demands.map((demand) => demand?.alone.join(" ") ?? "no").join(" | ")}`;
  });
}

test("groupCandidates() puts hosts of one rack together, and forgets racks with one host", () => {
  const hosts = [
    toCandidate("a", [0]),
    toCandidate("b", [0]),
    toCandidate("c", [1]),
    toCandidate("d", [2]),
  ];
  expect(describeGroups(toProblem([2], hosts))).toEqual(["a b: 0", "c d: -1"]);
});

test("groupCandidates() forgets servers within racks, and one of two keys that say the same", () => {
  const nested = [
    [0, 5],
    [0, 5],
    [0, 6],
    [1, 7],
    [1, 7],
  ];
  const hosts = nested.map((place, at) => toCandidate(`h${at}`, place));
  expect(describeGroups(toProblem([2], hosts))).toEqual(["h0 h1 h2: 0 -1", "h3 h4: -1 7"]);
});

test("groupCandidates() keeps two keys that cross", () => {
  const crossed = [
    [0, 5],
    [0, 6],
    [1, 5],
    [1, 6],
  ];
  const hosts = crossed.map((place, at) => toCandidate(`h${at}`, place));
  expect(describeGroups(toProblem([2], hosts))).toEqual([
    "h0: 0 5",
    "h1: 0 6",
    "h2: 1 5",
    "h3: 1 6",
  ]);
});

test("groupCandidates() drops what is held, and roles that need nothing", () => {
  const hosts = [
    toCandidate("a", [0], [2]),
    toCandidate("b", [1], [2]),
    toCandidate("c", [1], [3]),
  ];
  const held = [{ alone: [0], beside: [] }];
  expect(describeGroups({ ...toProblem([1, 0], hosts), held })).toEqual(["b c: 1 | no"]);
});

test("groupCandidates() keeps domains in which others only stand beside", () => {
  const hosts = [
    { host: "a", demands: [{ alone: [0], beside: [] }, undefined] },
    { host: "b", demands: [undefined, { alone: [], beside: [0] }] },
    { host: "c", demands: [undefined, { alone: [], beside: [0] }] },
    { host: "d", demands: [undefined, { alone: [], beside: [1] }] },
  ];
  const { groups } = groupCandidates({ ...toProblem([1, 2], hosts), scopes: [["key"], []] });
  expect(groups.map(({ candidates }) => candidates.map(({ host }) => host))).toEqual([
    ["a"],
    ["b", "c"],
    ["d"],
  ]);
  expect(groups[2]?.demands).toEqual([undefined, { alone: [], beside: [] }]);
});
