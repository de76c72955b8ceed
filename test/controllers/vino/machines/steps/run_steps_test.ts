/**
 * One round: a look for several machines, and the first step of each.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import {
  ProgressTracker,
  type MachineTask,
} from "../../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type StepOptions,
  pickDue,
  type StepInput,
  runSteps,
} from "../../../../../lib/controllers/vino/machines/steps/run_steps.ts";
import { toMachineSpec } from "../../../../../lib/controllers/vino/machines/steps/spec.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../../../lib/core/fence.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { toEntry, toView, VINO_OWNER } from "../../../../support/vino/known.ts";
import {
  type DoubleMachineStep,
  MachinesDouble,
} from "../../../../support/vino/machines_double.ts";

const FORM = {
  template: "t",
  cpus: 2,
  memoryBytes: 1,
  disks: [],
  countPer: "Host",
  boot: "Template",
  hosts: {},
} as const;

function toTask(index: number): MachineTask {
  const place = { role: "worker", index, poolId: "pool-1", hostId: "h1" };
  const source = {
    owner: VINO_OWNER,
    spec: {},
    form: FORM,
    ...place,
    interfaces: [],
    hasBmc: false,
  };
  return {
    name: toEntry("worker", index).name,
    identity: { owner: VINO_OWNER, role: "worker", index },
    goal: { kind: "exist", spec: toMachineSpec(source) },
  };
}

interface Rig {
  readonly cloud: MachinesDouble;
  readonly clock: ManualClock;
  readonly options: StepOptions;
  /** Reviews, picks and makes one round. */
  round(tasks: readonly MachineTask[], change?: Partial<StepInput>): Promise<string[]>;
}

function startRig(machinesMax: number = 8): Rig {
  const cloud = new MachinesDouble();
  const clock = new ManualClock();
  cloud.clock = () => clock.monotonic();
  const tracker = new ProgressTracker({ clock, machines: cloud, random: () => 0 });
  const options = { clock, machines: cloud, fence: new Fence(ALONE), tracker, machinesMax };
  return {
    cloud,
    clock,
    options,
    async round(tasks, change = {}) {
      await clock.advance(1);
      for (const task of tasks) tracker.review(task, toView([], { observedAtMs: -1 }), undefined);
      const due = pickDue(tasks, options);
      const before = cloud.calls.length;
      const input: StepInput = {
        due,
        record: () => ({ text: undefined, save: async () => undefined }),
        readSeed: async () => undefined,
        findObstacle: () => undefined,
        noteStep: () => undefined,
        ...change,
      };
      await runSteps(input, options, new AbortController().signal);
      return cloud.calls.slice(before);
    },
  };
}

const nameOf = (index: number): string => toEntry("worker", index).name;

describe("runSteps()", () => {
  test("looks once for all machines, and makes one step of each", async () => {
    const { round } = startRig();
    expect(await round([toTask(0), toTask(1)])).toEqual([
      "look worker-0,worker-1",
      `create VM ${nameOf(0)}`,
      `create VM ${nameOf(1)}`,
    ]);
  });

  test("keeps an error of one machine to itself", async () => {
    const { round, cloud, options } = startRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("protocol", "no room");
    };
    expect(await round([toTask(0), toTask(1)])).toContain(`create VM ${nameOf(1)}`);
    expect(options.tracker.find(nameOf(0))?.failure).toEqual({
      kind: "retry",
      message: `Cannot create VM ${nameOf(0)}: no room`,
    });
    expect(options.tracker.find(nameOf(1))?.failure).toBeUndefined();
  });

  test("says which steps were made although one that follows them directly fails", async () => {
    const { round, cloud, options } = startRig();
    cloud.plan = (_view, spec) => {
      const step = (kind: "configure" | "create", isDirect: boolean): DoubleMachineStep => {
        return { summary: kind, kind, name: nameOf(0), isDirect, spec };
      };
      const steps = [step("create", false), step("configure", true)];
      return { state: "Absent", steps, problems: [], parts: [], needsLook: true };
    };
    cloud.onStep = ({ kind }) => {
      if (kind === "configure") throw new CloudError("protocol", "no room");
    };
    const made: string[] = [];
    await round([toTask(0)], { noteStep: (_task, _plan, { summary }) => void made.push(summary) });
    expect(made).toEqual(["create"]);
    expect(options.tracker.find(nameOf(0))?.failure?.message).toBe("Cannot configure: no room");
  });

  test("throws an error of the whole cloud after the other steps ended", async () => {
    const { round, cloud, options } = startRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("gone");
    expect(cloud.world.has(nameOf(1))).toBe(true);
    expect(options.tracker.find(nameOf(0))?.failure).toBeUndefined();
  });

  test("throws a lost leadership first", async () => {
    const { round, cloud } = startRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
      throw new LeadershipLostError("another leads");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("another leads");
  });

  test("makes no step that an obstacle forbids, and says that a person must decide", async () => {
    const { round, cloud, options } = startRig();
    await round([toTask(0)], { findObstacle: () => "its host is in use" });
    expect(cloud.world.size).toBe(0);
    expect(options.tracker.find(nameOf(0))?.failure).toEqual({
      kind: "decision",
      message: "its host is in use",
    });
  });

  test("gives a seed only to a machine that is not complete", async () => {
    const { round, cloud } = startRig();
    const asked: string[] = [];
    const readSeed: StepInput["readSeed"] = async ({ name }) => {
      asked.push(name);
      return { label: "cidata", files: { "user-data": "x" } };
    };
    for (let at = 0; at < 4; at += 1) await round([toTask(0)], { readSeed });
    expect(cloud.world.get(nameOf(0))).toMatchObject({ stage: "ready", seed: { label: "cidata" } });
    expect(asked).toHaveLength(3);
  });

  test("leaves a machine whose seed cannot be read, and goes on with others", async () => {
    const { round, cloud, options } = startRig();
    const readSeed: StepInput["readSeed"] = async ({ name }) => {
      if (name === nameOf(0)) throw new Error("there is no Secret");
      return undefined;
    };
    await round([toTask(0), toTask(1)], { readSeed });
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    expect(options.tracker.find(nameOf(0))?.failure?.message).toBe("there is no Secret");
  });
});

describe("pickDue()", () => {
  test("begins only so many machines at once, and finishes those first", async () => {
    const { round, cloud } = startRig(2);
    const tasks = [0, 1, 2, 3].map(toTask);
    await round(tasks);
    expect(cloud.world.size).toBe(2);
    expect(await round(tasks)).toContain(`configure ${nameOf(0)}`);
    expect(cloud.world.size).toBe(2);
    await round(tasks);
    await round(tasks);
    expect(await round(tasks)).toContain(`create VM ${nameOf(2)}`);
    expect(cloud.mostAtOnce).toBe(2);
  });

  test("gives the place of a machine that failed to others until it is due again", async () => {
    const { round, cloud, clock } = startRig(1);
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("protocol", "no room");
    };
    const tasks = [toTask(0), toTask(1)];
    await round(tasks);
    await round(tasks);
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    cloud.onStep = () => undefined;
    await clock.advance(5_000);
    for (let at = 0; at < 4; at += 1) await round(tasks);
    expect(cloud.world.size).toBe(2);
  });
});
