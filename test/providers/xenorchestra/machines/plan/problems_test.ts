import { expect, test } from "bun:test";
import {
  toDecision,
  toNotice,
  toPlan,
  toRetry,
  toStep,
} from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import { IDENTITY, toSpec } from "../scene.ts";

test("toDecision(), toRetry() and toNotice() differ by their kind", () => {
  const made = [toDecision, toRetry, toNotice].map((make) => make("Reason", "why").kind);
  expect(made).toEqual(["decision", "retry", "notice"]);
});

test("toPlan() leaves out what is not known", () => {
  expect(toPlan("Absent", { againMs: undefined, machine: undefined, needsLook: false })).toEqual({
    state: "Absent",
    steps: [],
    problems: [],
    parts: [],
  });
  expect(toPlan("Absent", { againMs: 5, needsLook: true })).toMatchObject({
    againMs: 5,
    needsLook: true,
  });
});

test("toStep() keeps only the identity of a specification, which may hold secrets", () => {
  const step = toStep(toSpec(), "detach it", { kind: "detachDisk", linkId: "l", vmId: "v" });
  expect(step.identity).toEqual(IDENTITY);
});
