/**
 * One round after the other: machines are reviewed, those that are due are picked, and one step of each is made.
 * @module
 */
import { pickDue, type DueOptions } from "../../../lib/controllers/vino/machines/steps/pick_due.ts";
import { ProgressTracker } from "../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type StepInput,
  type StepOptions,
  runSteps,
} from "../../../lib/controllers/vino/machines/steps/run_steps.ts";
import { toMachineSpec } from "../../../lib/controllers/vino/machines/steps/spec.ts";
import type { MachineTask } from "../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { ManualClock } from "../manual_clock.ts";
import { toEntry, toView, VINO_OWNER } from "./known.ts";
import { MachinesDouble } from "./machines_double.ts";

const FORM = {
  template: "t",
  cpus: 2,
  memoryBytes: 1,
  disks: [],
  countPer: "Host",
  boot: "Template",
  hosts: {},
} as const;

/** The task that a machine must exist. */
export function toTask(index: number): MachineTask {
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

/** A cloud in memory, and rounds of steps in it. */
interface StepsRig {
  readonly cloud: MachinesDouble;
  readonly clock: ManualClock;
  readonly options: DueOptions & StepOptions;
  /** Reviews, picks and makes one round. */
  round(tasks: readonly MachineTask[], change?: Partial<StepInput>): Promise<string[]>;
}

/** Starts a rig. @param machinesMax How many machines change at once */
export function startStepsRig(machinesMax: number = 8): StepsRig {
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
        noteNextSteps: () => {},
        noteStep: () => undefined,
        ...change,
      };
      await runSteps(input, options, new AbortController().signal);
      return cloud.calls.slice(before);
    },
  };
}

/** The name of a machine. */
export function nameOf(index: number): string {
  return toEntry("worker", index).name;
}
