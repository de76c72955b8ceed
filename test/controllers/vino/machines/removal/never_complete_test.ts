import { describe, expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import { NeverComplete } from "../../../../../lib/controllers/vino/machines/removal/never_complete.ts";
import type { KnownMachine } from "../../../../../lib/controllers/vino/placement/known.ts";
import { toEntry, toKnown, toMachine } from "../../../../support/vino/known.ts";
import { toTask } from "../../../../support/vino/steps_rig.ts";

const TASK = toTask(0);
const CREATE = { summary: "create" };
const COMPLETE = { summary: "complete", completes: true };

function toPlan(change: Partial<MachinePlan>): MachinePlan {
  return { state: "Absent", steps: [CREATE], problems: [], parts: [], ...change };
}

function begin(): NeverComplete {
  const never = new NeverComplete();
  never.noteSteps(TASK, toPlan({}));
  return never;
}

describe("NeverComplete", () => {
  test("knows a machine that a look proved absent before it was begun", () => {
    expect(begin().has(TASK.name)).toBe(true);
    expect(begin().has("another")).toBe(false);
  });

  test.each<[string, Partial<MachinePlan>]>([
    ["that is half made already", { state: "Creating" }],
    ["that only an inventory does not show", { needsLook: true }],
    ["that may be in a lost pool", { state: "Unknown" }],
    ["that is complete after the same steps", { steps: [CREATE, { ...COMPLETE, isDirect: true }] }],
  ])("does not know it of a machine %s", (_title, plan) => {
    const never = new NeverComplete();
    never.noteSteps(TASK, toPlan(plan));
    expect(never.has(TASK.name)).toBe(false);
  });

  test("does not know it of a machine that goes", () => {
    const never = new NeverComplete();
    never.noteSteps({ name: TASK.name, goal: { kind: "remove" } }, toPlan({}));
    expect(never.has(TASK.name)).toBe(false);
  });

  test("forgets a machine before the step that completes it, and not before", () => {
    const never = begin();
    never.noteSteps(TASK, toPlan({ state: "Creating", steps: [CREATE, COMPLETE] }));
    expect(never.has(TASK.name)).toBe(true);
    never.noteSteps(TASK, toPlan({ state: "Creating", steps: [COMPLETE] }));
    expect(never.has(TASK.name)).toBe(false);
  });

  const half = toMachine("worker", 0, { isComplete: false });
  const creating = toEntry("worker", 0, { state: "Creating" });

  test.each<[string, Partial<KnownMachine>, boolean]>([
    ["is half made", { machine: half, entry: creating }, true],
    ["is complete", { machine: toMachine("worker", 0) }, false],
    ["was complete", { machine: half, entry: toEntry("worker", 0) }, false],
    ["is in use", { machine: half, isConsumed: true }, false],
    ["is published", { machine: half, entry: { ...creating, bareMetalHost: "Published" } }, false],
  ])("reviews a machine that %s", (_title, change, expected) => {
    const never = begin();
    const { entry: _entry, ...known } = toKnown("worker", 0);
    never.review([{ ...known, ...change }]);
    expect(never.has(TASK.name)).toBe(expected);
  });

  test("forgets a machine that is not known any more", () => {
    const never = begin();
    never.review([]);
    expect(never.has(TASK.name)).toBe(false);
  });
});
