/**
 * What is known about the work on single machines, from look to look.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type {
  MachinePlan,
  MachineProblem,
  Machines,
  MachinesView,
} from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  ProgressTracker,
  type MachineTask,
} from "../../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { toMachineSpec } from "../../../../../lib/controllers/vino/machines/steps/spec.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { toEntry, toView, VINO_OWNER } from "../../../../support/vino/known.ts";
import { MachinesDouble } from "../../../../support/vino/machines_double.ts";

const { name } = toEntry("worker", 0);

function toTask(cpus: number = 2): MachineTask {
  const form = {
    template: "t",
    cpus,
    memoryBytes: 1,
    disks: [],
    countPer: "Host",
    boot: "Template",
    hosts: {},
  } as const;
  const place = { role: "worker", index: 0, poolId: "pool-1", hostId: "h1" };
  const spec = toMachineSpec({
    owner: VINO_OWNER,
    spec: {},
    form,
    ...place,
    interfaces: [],
    hasBmc: false,
  });
  return {
    name,
    identity: { owner: VINO_OWNER, role: "worker", index: 0 },
    goal: { kind: "exist", spec },
  };
}

function startBook(): {
  tracker: ProgressTracker;
  clock: ManualClock;
  plans: { next: Partial<MachinePlan> };
  look(atMs: number): MachinesView;
} {
  const clock = new ManualClock();
  const plans: { next: Partial<MachinePlan> } = { next: {} };
  const plan = (): MachinePlan => ({
    state: "Ready",
    steps: [],
    problems: [],
    parts: [],
    ...plans.next,
  });
  const machines: Machines = Object.assign(new MachinesDouble(), { plan, planRemoval: plan });
  return {
    tracker: new ProgressTracker({ clock, machines, random: () => 0 }),
    clock,
    plans,
    look: (observedAtMs) => toView([], { observedAtMs }),
  };
}

const problem = (kind: MachineProblem["kind"]): MachineProblem => ({
  reason: "No",
  message: "no",
  kind,
});
const STEP = { summary: "do it" };

describe("ProgressTracker.review()", () => {
  test("has nothing due for a machine that is as it should be", () => {
    const { tracker, look } = startBook();
    expect(tracker.review(toTask(), look(1), undefined).dueMs).toBe(Infinity);
  });

  test("has a machine due that needs a look, and one later that the cloud works on", () => {
    const { tracker, look, plans } = startBook();
    plans.next = { state: "Absent", needsLook: true };
    expect(tracker.review(toTask(), look(1), undefined).dueMs).toBe(0);
    plans.next = { state: "Creating", againMs: 2_000 };
    expect(tracker.review(toTask(), look(2), undefined).dueMs).toBe(2_000);
  });

  test("believes a newer look more than an older inventory, but not for another goal", () => {
    const { tracker, look, plans } = startBook();
    tracker.look(toTask(), look(5), undefined);
    plans.next = { state: "Absent", needsLook: true };
    expect(tracker.review(toTask(), look(5), undefined).plan.state).toBe("Ready");
    expect(tracker.review(toTask(4), look(5), undefined).plan.state).toBe("Absent");
  });

  test("does not look again before a machine that failed may be tried", async () => {
    const { tracker, look, plans, clock } = startBook();
    plans.next = { state: "Absent", needsLook: true };
    tracker.review(toTask(), look(1), undefined);
    tracker.noteFailure(name, { kind: "retry", message: "no room" });
    await clock.advance(1_000);
    expect(tracker.review(toTask(), look(2), undefined)).toMatchObject({
      dueMs: 5_000,
      failure: { message: "no room" },
    });
    expect(tracker.review(toTask(4), look(3), undefined).dueMs).toBe(1_000);
  });
});

describe("ProgressTracker.look()", () => {
  test("waits longer and longer while a problem stays, and forgets that when it ends", () => {
    const { tracker, look, plans } = startBook();
    plans.next = { state: "Absent", problems: [problem("retry")] };
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map(
      (at) => tracker.look(toTask(), look(at), undefined).dueMs,
    );
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1_000));
    plans.next = {};
    tracker.look(toTask(), look(9), undefined);
    plans.next = { state: "Blocked", problems: [problem("decision")] };
    expect(tracker.look(toTask(), look(10), undefined).dueMs).toBe(5_000);
  });

  test("takes a notice for no problem", () => {
    const { tracker, look, plans } = startBook();
    plans.next = { problems: [problem("notice")] };
    expect(tracker.look(toTask(), look(1), undefined).dueMs).toBe(Infinity);
  });

  test("looks again soon if the cloud could not say what is to do", () => {
    const { tracker, look, plans } = startBook();
    plans.next = { state: "Unknown" };
    expect(tracker.look(toTask(), look(1), undefined).dueMs).toBe(30_000);
  });

  test("has a machine with a step due at once", async () => {
    const { tracker, look, plans, clock } = startBook();
    plans.next = { state: "Creating", steps: [STEP] };
    await clock.advance(7);
    expect(tracker.look(toTask(), look(1), undefined).dueMs).toBe(7);
  });
});

test("ProgressTracker.review() keeps what a person must decide until something shows that it is decided", () => {
  const { tracker, plans, look } = startBook();
  plans.next = { state: "Blocked", problems: [problem("decision")] };
  tracker.look(toTask(), look(1), undefined);
  plans.next = { state: "Removing", needsLook: true };
  for (const atMs of [2, 3]) {
    const { plan } = tracker.review(toTask(), look(atMs), undefined);
    expect(plan).toMatchObject({ state: "Blocked", problems: [{ kind: "decision" }] });
  }
  plans.next = { state: "Ready" };
  expect(tracker.review(toTask(), look(4), undefined).plan).toMatchObject({
    state: "Ready",
    problems: [],
  });
});

test("ProgressTracker.noteStep() stops a step that succeeds again and again", () => {
  const { tracker, look, plans } = startBook();
  plans.next = { state: "Creating", steps: [STEP] };
  const failures = [1, 2, 3, 4].map((at) => {
    tracker.look(toTask(), look(at), undefined);
    tracker.noteStep(name);
    return tracker.find(name)?.failure?.message;
  });
  expect(failures).toEqual([
    undefined,
    undefined,
    undefined,
    '"do it" succeeded 4 times in a row and may be needed again',
  ]);
});

test("ProgressTracker.keepOnly() forgets other machines", () => {
  const { tracker, look } = startBook();
  tracker.review(toTask(), look(1), undefined);
  tracker.keepOnly(new Set([name]));
  expect(tracker.find(name)).toBeDefined();
  tracker.keepOnly(new Set());
  expect(tracker.find(name)).toBeUndefined();
});
