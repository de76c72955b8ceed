import { expect, test } from "bun:test";
import { groupCandidates } from "../../../../../lib/controllers/sipcluster/schedule/matching/groups.ts";
import {
  chooseLayers,
  countAtMost,
  countLimits,
} from "../../../../../lib/controllers/sipcluster/schedule/matching/layers.ts";
import { toCandidate, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

// Three racks and two feeds; one host has no feed.
const PLACES = [
  [0, 10],
  [0, 11],
  [1, 10],
  [1, 11],
  [2, 10],
  [2, -1],
];
const HOSTS = PLACES.map((place, at) => toCandidate(`h${at}`, place, place));

test("countLimits() counts the domains of each key, and hosts in none", () => {
  const grouped = groupCandidates(toProblem([3, 0], HOSTS));
  expect(countLimits(grouped)).toEqual([
    [3, 3],
    [0, 0],
  ]);
});

test("countAtMost() is what the tightest key of each role allows", () => {
  for (const [needs, atMost] of [
    [[9, 0], 3],
    [[2, 0], 2],
    [[2, 9], 5],
  ] as const) {
    const grouped = groupCandidates(toProblem(needs, HOSTS));
    expect(countAtMost(grouped, countLimits(grouped))).toBe(atMost);
  }
});

test("chooseLayers() takes the two tightest keys of a role", () => {
  const hosts = PLACES.slice(0, 5).map((place, at) => toCandidate(`h${at}`, [at + 20, ...place]));
  const grouped = groupCandidates(toProblem([3], hosts));
  const layers = chooseLayers(grouped, countLimits(grouped));
  expect(layers).toEqual({ first: [2], second: [1], isSecondShared: false });
});

test("chooseLayers() puts a key behind the hosts that all roles share", () => {
  const grouped = groupCandidates({
    ...toProblem([1, 1], HOSTS),
    scopes: [
      ["rack", "feed"],
      ["room", "rack"],
    ],
  });
  expect(chooseLayers(grouped, countLimits(grouped))).toMatchObject({
    first: [1, 0],
    second: [0, 1],
    isSecondShared: true,
  });
});
