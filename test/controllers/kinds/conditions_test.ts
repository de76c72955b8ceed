import { describe, expect, test } from "bun:test";
import {
  type ConditionContext,
  type Finding,
  findCondition,
  toConditions,
  toFinding,
} from "../../../lib/controllers/kinds/conditions.ts";
import { no, yes } from "../../../lib/controllers/kinds/words.ts";

const NOW = "2026-01-01T12:00:00Z";
const THEN = "2025-01-01T00:00:00Z";

describe("toConditions()", () => {
  const ready: Finding<string> = { type: "Ready", status: "True", reason: "A", message: "a" };
  const before = { ...ready, lastTransitionTime: THEN, observedGeneration: 1 };
  const context: ConditionContext = {
    nowMs: Date.UTC(2026, 0, 1, 12, 0, 0, 123),
    order: ["Ready", "Blocked"],
  };

  test("keeps the time while the status stays, and follows reason, message and generation", () => {
    const next = { ...ready, reason: "B", message: "b" };
    expect(toConditions([next], [before], { ...context, generation: 2 })).toEqual([
      { ...next, lastTransitionTime: THEN, observedGeneration: 2 },
    ]);
  });

  test("notes the time of a new status, without fractions of a second", () => {
    const next: Finding<string> = { ...ready, status: "False" };
    expect(toConditions([next], [before], context)).toEqual([{ ...next, lastTransitionTime: NOW }]);
  });

  test("keeps conditions without a finding, in the order of the kind, foreign ones last", () => {
    const foreign = { ...before, type: "Other" };
    const blocked = { ...before, type: "Blocked" };
    const found = toConditions([ready], [foreign, blocked], context);
    expect(found.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)).toEqual([
      `Ready ${NOW}`,
      `Blocked ${THEN}`,
      `Other ${THEN}`,
    ]);
  });
});

test("toFinding() leaves out the meaning, which is for the reference page", () => {
  expect(toFinding("Ready", yes("A", "It is."), "a")).toEqual({
    type: "Ready",
    status: "True",
    reason: "A",
    message: "a",
  });
  expect(toFinding("Ready", no("B", "It is not."), "b").status).toBe("False");
});

test("findCondition() finds a condition by its type", () => {
  const ready = { ...toFinding("Ready", yes("A", "It is."), "a"), lastTransitionTime: THEN };
  expect(findCondition({ conditions: [ready] }, "Ready")).toBe(ready);
  expect(findCondition({ conditions: [ready] }, "Blocked")).toBeUndefined();
  expect(findCondition(undefined, "Ready")).toBeUndefined();
});
