/**
 * One round after the other: machines are reviewed, and those that are due are picked and reconciled.
 * @module
 */
import { MachineEvents } from "../../../lib/controllers/vino/machines/events.ts";
import {
  MachineGroup,
  type MachineWork,
  WorkList,
} from "../../../lib/controllers/vino/machines/work_list.ts";
import { MachineReconciler } from "../../../lib/controllers/vino/machines/machine_reconciler.ts";
import { NeverComplete } from "../../../lib/controllers/vino/machines/removal/limit.ts";
import {
  pickDue,
  ProgressTracker,
} from "../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type Assignment,
  toMachineSpec,
  type MachineTask,
} from "../../../lib/controllers/vino/machines/steps/tasks.ts";
import type { MachineReconcilerOptions } from "../../../lib/controllers/vino/machines/types.ts";
import type { HostFacts } from "../../../lib/controllers/vino/hosts/host_facts.ts";
import type { Published } from "../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import type {
  HostState,
  VinoMachine,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { ManualClock } from "../manual_clock.ts";
import { toEntry, toKnown, toView, VINO_OWNER } from "./known.ts";
import { MachineObjects } from "./machine_objects.ts";
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

/** A cloud in memory, and rounds of reconciles in it. */
interface StepsRig {
  readonly cloud: MachinesDouble;
  readonly clock: ManualClock;
  readonly tracker: ProgressTracker;
  readonly work: WorkList;
  readonly group: MachineGroup;
  /** What is handed over for a task. */
  readonly toWork: (task: MachineTask) => MachineWork;
  /** Reasons of Events, and what Warnings say. */
  readonly events: string[];
  /** Reviews, picks and reconciles once. @returns What the cloud was asked for */
  round(tasks: readonly MachineTask[]): Promise<string[]>;
}

/** What a rig has. */
interface StepsRigOptions {
  /** How many machines change at once. */
  readonly machinesMax?: number;
  /** Whether the Vino deletes machines. @default {true} */
  readonly deletes?: boolean;
  readonly readSeed?: MachineReconcilerOptions["readSeed"];
  /** The BareMetalHost that has the name of any machine. @default {none} */
  readonly host?: HostFacts;
  /** How far a host is that must go. @default {Gone} */
  readonly leavingHost?: HostState;
  /** VinoMachines that exist. */
  readonly objects?: readonly VinoMachine[];
}

/** Starts a rig. */
export function startStepsRig({
  machinesMax = 8,
  deletes = true,
  readSeed = async () => undefined,
  host,
  leavingHost = "Gone",
  objects: existing = [],
}: StepsRigOptions = {}): StepsRig {
  const cloud = new MachinesDouble();
  const clock = new ManualClock();
  cloud.clock = () => clock.monotonic();
  const work = new WorkList(cloud);
  const tracker = new ProgressTracker({ clock, machines: cloud, work, random: () => 0 });
  const neverComplete = new NeverComplete();
  const group = new MachineGroup({
    clock,
    tracker,
    neverComplete,
    isWorking: () => work.listWorking(VINO_OWNER.uid).length > 0,
  });
  const vino = { metadata: VINO_OWNER };
  const vinoes = new Map([[`${VINO_OWNER.namespace}/${VINO_OWNER.name}`, vino]]);
  const events: string[] = [];
  const machineEvents = new MachineEvents({
    events: { record: (_object, { reason }) => void events.push(reason) },
    log: silentLogger,
    metrics: { countMachine: () => undefined },
    objects: { find: () => undefined, warn: () => false },
    warn: (_vino, { reason }, message) => events.push(`${reason}: ${message}`) > 0,
  });
  const started: string[] = [];
  work.started.subscribe((keys) => void started.push(...keys));
  const reconciler = new MachineReconciler({
    clock,
    machines: cloud,
    fence: new Fence(ALONE),
    objects: new MachineObjects(existing).open({ vinoes }),
    hosts: {
      find: () => host,
      forget: () => undefined,
      isGone: () => true,
      publish: async ({ name }) => toPublished(name, "Published"),
      remove: async ({ name }) => toPublished(name, leavingHost),
    },
    machineEvents,
    readSeed,
    vinoes,
    work,
  });
  const snapshot = {
    owner: VINO_OWNER,
    view: toView([]),
    known: [],
    placement: { wanted: [], surplus: [], shortages: [], notices: [], wantedCount: 0 },
  };
  const toWork = (task: MachineTask): MachineWork => ({
    input: { vino, deletes },
    snapshot,
    assignment: toAssignment(task),
    group,
    mayStep: true,
    basis: { decision: [], facts: [] },
  });
  return {
    cloud,
    clock,
    tracker,
    toWork,
    work,
    group,
    events,
    async round(tasks) {
      await clock.advance(1);
      for (const task of tasks) tracker.review(task, toView([], { observedAtMs: -1 }), undefined);
      const due = pickDue(tasks, { clock, tracker, machinesMax });
      const before = cloud.calls.length;
      work.start(due.map((task) => toWork(task)));
      const { signal } = new AbortController();
      const keys = started.splice(0);
      const ends = await Promise.allSettled(keys.map((key) => reconciler.reconcile(key, signal)));
      const failed = ends.find((end) => end.status === "rejected");
      if (failed) throw failed.reason;
      group.throwFailure();
      return cloud.calls.slice(before);
    },
  };
}

function toAssignment(task: MachineTask): Assignment {
  const { role, index } = task.identity;
  const isWanted = task.goal.kind === "exist";
  const known = isWanted ? {} : { known: toKnown(role, index) };
  return { name: task.name, role, index, isWanted, task, ...known };
}

function toPublished(name: string, state: HostState): Published {
  return { outcome: { name, state, notices: [] }, againMs: Infinity };
}

/** The name of a machine. */
export function nameOf(index: number): string {
  return toEntry("worker", index).name;
}
