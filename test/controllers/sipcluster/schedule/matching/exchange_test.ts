import { expect, test } from "bun:test";
import { exchangePicks } from "../../../../../lib/controllers/sipcluster/schedule/matching/exchange.ts";
import { groupCandidates } from "../../../../../lib/controllers/sipcluster/schedule/matching/groups.ts";
import { toCandidate, toProblem } from "../../../../support/sipcluster/matching_problems.ts";

const OPTIONS = { goal: 3, maxSteps: 10_000 };
const GROUPED = groupCandidates(
  toProblem(
    [3],
    [
      [0, 10],
      [0, 11],
      [1, 10],
      [1, 12],
      [2, 10],
    ].map((place, at) => toCandidate(`h${at}`, place)),
  ),
);

test("exchangePicks() drops what stands in the way of two others", () => {
  const start = [
    { role: 0, group: 0 },
    { role: 0, group: 3 },
  ];
  const { picks, steps } = exchangePicks(GROUPED, start, OPTIONS);
  expect(picks.map(({ group }) => group).toSorted()).toEqual([1, 3, 4]);
  expect(steps).toBeGreaterThan(0);
});

test("exchangePicks() returns the start if it finds nothing better, or has no steps", () => {
  const start = [
    { role: 0, group: 1 },
    { role: 0, group: 2 },
  ];
  expect(exchangePicks(GROUPED, start, { ...OPTIONS, maxSteps: 0 }).picks).toEqual(start);
  expect(exchangePicks(GROUPED, start, { ...OPTIONS, goal: 2 }).picks).toEqual(start);
  const two = groupCandidates(
    toProblem(
      [3],
      ["a", "b"].map((host) => toCandidate(host, [0])),
    ),
  );
  expect(exchangePicks(two, [{ role: 0, group: 0 }], OPTIONS).picks).toHaveLength(1);
});

test("exchangePicks() hands a host to the role that has no other", () => {
  const hosts = [toCandidate("a", [-1], [-1]), toCandidate("b", [-1], undefined)];
  const grouped = groupCandidates(toProblem([1, 1], hosts));
  const { picks } = exchangePicks(grouped, [{ role: 0, group: 0 }], { ...OPTIONS, goal: 2 });
  expect(new Set(picks.map(({ role, group }) => `${role} ${group}`))).toEqual(
    new Set(["1 0", "0 1"]),
  );
});
