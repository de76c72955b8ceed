import { expect, test } from "bun:test";
import {
  type Conclusion,
  toConclusionAgeMs,
  toPauseMs,
} from "../../../../lib/controllers/service/passes/look_age.ts";

const MINUTE_MS = 60_000;
const BASE = { waitedMs: 0, lookingMs: 0, periodMs: 10 * MINUTE_MS };

test.each<[string, Conclusion, number]>([
  ["a release of a new leader", { ...BASE, kind: "release" }, 10_000],
  ["one after 2 minutes", { ...BASE, kind: "release", lookingMs: 2 * MINUTE_MS }, 10_000],
  ["one after 5 minutes", { ...BASE, kind: "release", lookingMs: 5 * MINUTE_MS }, 3 * MINUTE_MS],
  ["one after hours", { ...BASE, kind: "release", lookingMs: 500 * MINUTE_MS }, 10 * MINUTE_MS],
  ["a problem that is new", { ...BASE, kind: "waiting" }, 2_000],
  ["one after 2 minutes", { ...BASE, kind: "waiting", waitedMs: 2 * MINUTE_MS }, MINUTE_MS],
  ["one after an hour", { ...BASE, kind: "waiting", waitedMs: 60 * MINUTE_MS }, 10 * MINUTE_MS],
])("toConclusionAgeMs() of %s", (_what, conclusion, ageMs) => {
  expect(toConclusionAgeMs(conclusion)).toBe(ageMs);
});

test("toPauseMs() doubles from 5 s to a minute", () => {
  let waitedMs = 0;
  const pauses = Array.from({ length: 7 }, () => {
    const pauseMs = toPauseMs(waitedMs);
    waitedMs += pauseMs;
    return pauseMs / 1_000;
  });
  expect(pauses).toEqual([5, 5, 10, 20, 40, 60, 60]);
});
