import { describe, expect, test } from "bun:test";
import type { Machine, MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  Sightings,
  toInterimPlan,
} from "../../../../../lib/controllers/vino/machines/steps/sightings.ts";
import { toMachine } from "../../../../support/vino/known.ts";

const machine: Machine = toMachine("worker", 0);
const { name } = machine;
const toPlan = (state: MachinePlan["state"], shown?: Machine): MachinePlan => ({
  state,
  steps: [],
  problems: [],
  parts: [],
  ...(shown && { machine: shown }),
});

function removeMachine(): Sightings {
  const sightings = new Sightings();
  sightings.note(name, toPlan("Ready", machine), 5);
  sightings.noteGone(name, 10);
  return sightings;
}

describe("Sightings", () => {
  test.each(["Unknown", "Creating", "Removing"] as const)(
    "prove nothing by a look that found it %s and did not show it",
    (state) => {
      const sightings = new Sightings();
      sightings.note(name, toPlan("Ready", machine), 5);
      sightings.note(name, toPlan(state), 7);
      expect(sightings.find(name, 5)).toMatchObject({ atMs: 5, machine, isReady: true });
      expect(sightings.find(name, 6)).toBeUndefined();
    },
  );
});

describe("Sightings of a machine whose removal is over", () => {
  test.each<[string, (sightings: Sightings) => void, boolean]>([
    ["a look finds it absent", (one) => one.note(name, toPlan("Absent"), 12), true],
    ["a look finds it being made", (one) => one.note(name, toPlan("Creating"), 12), false],
    ["a look does not know", (one) => one.note(name, toPlan("Unknown"), 12), false],
    ["a look shows it", (one) => one.note(name, toPlan("Ready", machine), 12), false],
    ["it is begun", (one) => one.noteBegun(name), false],
    ["another one is begun", (one) => one.noteBegun("vino-1b4e28ba-worker-9"), true],
  ])("after %s", (_what, change, isGone) => {
    const sightings = removeMachine();
    change(sightings);
    expect(sightings.isGone(name)).toBe(isGone);
  });
});

test.each<["exist" | "remove", Machine | undefined, boolean, MachinePlan["state"]]>([
  ["exist", machine, true, "Ready"],
  ["exist", machine, false, "Unfinished"],
  ["exist", undefined, false, "Absent"],
  ["remove", machine, true, "Removing"],
  ["remove", undefined, false, "Removing"],
])("toInterimPlan() to %s: %#", (goal, shown, isReady, state) => {
  const plan = toInterimPlan(goal, { isReady, ...(shown && { machine: shown }) });
  expect(plan).toMatchObject({ state, steps: [], needsLook: true });
  expect(plan.machine).toEqual(shown);
});
