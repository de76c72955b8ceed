/**
 * What is known about the work on single machines, from look to look.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type {
  Machine,
  MachinePlan,
  MachineProblem,
  Machines,
  MachinesView,
} from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  type Progress,
  ProgressTracker,
} from "../../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type MachineTask,
  toMachineSpec,
} from "../../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { AT_REST, toEntry, toMachine, toView, VINO_OWNER } from "../../../../support/vino/known.ts";
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

function startTracker(): {
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
    tracker: new ProgressTracker({ clock, machines, work: AT_REST, random: () => 0 }),
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
  const machine: Machine = {
    name,
    id: "vm-1",
    isComplete: true,
    power: "running",
    firmware: "uefi",
    poolId: "pool-1",
  };
  const gone: MachineTask = { ...toTask(), goal: { kind: "remove" } };

  test("does not bring back a removed machine from an inventory that began before", () => {
    const { tracker, look, plans } = startTracker();
    plans.next = { state: "Absent" };
    tracker.look(gone, look(5), undefined);
    tracker.keepOnly(new Set());
    plans.next = { state: "Ready", machine };
    expect([...tracker.sightings.list(5).keys()]).toEqual([name]);
    expect(tracker.review(toTask(), look(5), undefined)).toMatchObject({
      plan: { state: "Absent", needsLook: true },
      dueMs: 0,
    });
    expect(tracker.review(toTask(), look(6), undefined).plan).toMatchObject({ state: "Ready" });
  });

  test("removes a machine that a look showed, although the inventory does not", () => {
    const { tracker, look, plans } = startTracker();
    plans.next = { machine };
    tracker.look(toTask(), look(5), undefined);
    plans.next = { state: "Absent" };
    expect(tracker.review(gone, look(4), undefined).plan).toMatchObject({
      state: "Removing",
      machine,
    });
  });

  test("does not look again before a machine that failed may be tried", async () => {
    const { tracker, look, plans, clock } = startTracker();
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
    const { tracker, look, plans } = startTracker();
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

  test("looks again soon if the cloud could not say what is to do", () => {
    const { tracker, look, plans } = startTracker();
    plans.next = { state: "Unknown" };
    expect(tracker.look(toTask(), look(1), undefined).dueMs).toBe(30_000);
  });
});

test("ProgressTracker.review() keeps what a person must decide until something shows that it is decided", () => {
  const { tracker, plans, look } = startTracker();
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

describe("ProgressTracker.review() of a machine that differs", () => {
  async function startDiffering(): Promise<ReturnType<typeof startTracker>> {
    const rig = startTracker();
    await rig.clock.advance(1_000);
    rig.plans.next = { problems: [problem("notice")], shown: "a" };
    rig.tracker.look(toTask(), rig.look(1), undefined);
    return rig;
  }

  test("keeps what a look found as long as the inventory shows the same, and looks again later", async () => {
    const { tracker, plans, look } = await startDiffering();
    for (const needsLook of [true, false]) {
      plans.next = { needsLook, shown: "a" };
      const { plan, dueMs } = tracker.review(toTask(), look(needsLook ? 2 : 3), undefined);
      expect(plan.problems).toEqual([problem("notice")]);
      expect(plan.needsLook).toBeUndefined();
      expect(dueMs).toBe(601_000);
    }
  });
});

test("ProgressTracker.noteStep() stops a step that succeeds again and again", () => {
  const { tracker, look, plans } = startTracker();
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
    '"do it" succeeded 4 times in a row. Another program may undo it each time',
  ]);
});

test("ProgressTracker.keepOnly() forgets other machines", () => {
  const { tracker, look } = startTracker();
  tracker.review(toTask(), look(1), undefined);
  tracker.keepOnly(new Set([name]));
  expect(tracker.find(name)).toBeDefined();
  tracker.keepOnly(new Set());
  expect(tracker.find(name)).toBeUndefined();
});

test("ProgressTracker.review() keeps why a look does not know until an inventory does", () => {
  const { tracker, plans, look } = startTracker();
  const lost = { ...problem("retry"), missingPoolId: "pool-1" };
  plans.next = { state: "Unknown", problems: [lost] };
  tracker.look(toTask(), look(1), undefined);
  plans.next = { state: "Unknown", problems: [problem("retry")], needsLook: true };
  expect(tracker.review(toTask(), look(2), undefined).plan.problems).toEqual([lost]);
  plans.next = { state: "Removing", needsLook: true };
  expect(tracker.review(toTask(), look(3), undefined).plan.problems).toEqual([]);
});

test.each<[string, MachineProblem, MachinesView["pools"]]>([
  ["is not shown", { ...problem("retry"), missingPoolId: "pool-9" }, []],
  ["is disconnected", problem("retry"), [{ id: "pool-9", name: "lyon", isComplete: false }]],
])(
  "ProgressTracker.review() keeps that a machine may be in a pool that %s, until it answers",
  (_what, lost, pools) => {
    const { tracker, plans, look } = startTracker();
    plans.next = { state: "Unknown", problems: [lost] };
    tracker.look(toTask(), look(1), undefined);
    plans.next = { state: "Absent", needsLook: true };
    for (const at of [2, 3]) {
      const { plan } = tracker.review(toTask(), { ...look(at), pools }, undefined);
      expect(plan).toMatchObject({ state: "Unknown", problems: [lost], needsLook: true });
    }
    const answering = [{ id: "pool-9", name: "lyon", isComplete: true }];
    const { plan } = tracker.review(toTask(), { ...look(4), pools: answering }, undefined);
    expect(plan).toMatchObject({ state: "Absent", problems: [] });
  },
);

test("ProgressTracker.review() keeps the disks that a look showed, until the machine has other parts", () => {
  const { tracker, plans, look } = startTracker();
  const machine = toMachine("worker", 0);
  const disks = [{ name: "root", sizeBytes: 1 }];
  plans.next = { machine, isBuilt: true, disks };
  tracker.look(toTask(), look(1), undefined);
  plans.next = { machine, isBuilt: true };
  expect(tracker.review(toTask(), look(2), undefined).plan.disks).toEqual(disks);
  expect(tracker.review(toTask(), look(3), undefined).plan.disks).toEqual(disks);
  plans.next = { machine };
  expect(tracker.review(toTask(), look(4), undefined).plan.disks).toBeUndefined();
  plans.next = { machine, isBuilt: true };
  expect(tracker.review(toTask(), look(5), undefined).plan.disks).toBeUndefined();
});

test("ProgressTracker.review() keeps the disks of no other machine", () => {
  const { tracker, plans, look } = startTracker();
  plans.next = { machine: toMachine("worker", 0), isBuilt: true, disks: [] };
  tracker.look(toTask(), look(1), undefined);
  plans.next = { machine: toMachine("worker", 0, { id: "vm-other" }), isBuilt: true };
  expect(tracker.review(toTask(), look(2), undefined).plan.disks).toBeUndefined();
});

describe("ProgressTracker and a creation that failed", () => {
  const failed: Partial<MachinePlan> = { state: "Absent", problems: [problem("retry")] };
  const told = ({ plan, setbacks }: Progress): string[] =>
    [...plan.problems, ...setbacks].map(({ kind }) => kind);

  async function startFailed(): Promise<ReturnType<typeof startTracker>> {
    const rig = startTracker();
    rig.plans.next = { state: "Creating" };
    rig.tracker.look(toTask(), rig.look(1), undefined);
    rig.plans.next = failed;
    await rig.clock.advance(1);
    rig.tracker.look(toTask(), rig.look(2), undefined);
    return rig;
  }

  test("knows why at each inventory, and while the next attempt runs", async () => {
    const { tracker, plans, look } = await startFailed();
    plans.next = { state: "Absent", needsLook: true };
    for (const atMs of [3, 4, 5]) {
      expect(told(tracker.review(toTask(), look(atMs), undefined))).toContain("retry");
    }
    plans.next = { ...failed, steps: [STEP] };
    expect(told(tracker.look(toTask(), look(6), undefined))).toContain("retry");
    tracker.noteStep(name);
    plans.next = { state: "Creating" };
    expect(told(tracker.look(toTask(), look(7), undefined))).toEqual(["retry"]);
    plans.next = { state: "Creating", needsLook: true };
    expect(told(tracker.review(toTask(), look(8), undefined))).toEqual(["retry"]);
  });
});
