import { expect, test } from "bun:test";
import { mergeResults, NO_RESULTS, type Results, type Run } from "../../bench/results.ts";

const POINT = {
  nodes: 100,
  seconds: 1,
  cpuSeconds: 1,
  cloudRequests: 1,
  cloudBytes: 1,
  requests: 1,
  bytes: 1,
  peak: 1,
  settled: 1,
};

const OLD: Run = { date: "2026-01-01", machine: "old", loadBefore: "a", loadAfter: "b" };
const NEW: Run = { date: "2026-01-02", machine: "new", loadBefore: "c", loadAfter: "d" };

test("mergeResults() puts the new over the old, and keeps what was not measured now", () => {
  const older: Results = {
    figures: { start: 1, ready: 2 },
    curve: [POINT, { ...POINT, nodes: 1_000 }],
    runs: { start: OLD, ready: OLD },
  };
  const newer: Results = {
    figures: { start: 3 },
    curve: [
      { ...POINT, nodes: 300 },
      { ...POINT, seconds: 9 },
    ],
    runs: { start: NEW, small: NEW },
  };
  const merged = mergeResults(older, newer);
  expect(merged.figures).toEqual({ start: 3, ready: 2 });
  expect(merged.curve.map(({ nodes, seconds }) => [nodes, seconds])).toEqual([
    [100, 9],
    [300, 1],
    [1_000, 1],
  ]);
  expect(merged.runs).toEqual({ start: NEW, ready: OLD, small: NEW });
  expect(mergeResults(NO_RESULTS, newer)).toMatchObject({ figures: newer.figures });
});
