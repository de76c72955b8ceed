/**
 * How far the work on each machine of one Vino is: its plan, when to look again, and the back-off after a failure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import {
  listNextSteps,
  type MachineIdentity,
  type MachinePlan,
  type MachineProblem,
  type Machines,
  type MachineSpec,
  type MachinesView,
} from "../../../../cloud/capabilities/machines.ts";
import { type Clock, toBackoffMs } from "../../../../core/clock.ts";
import { holds, keepFound, listSetbacks } from "./kept_findings.ts";
import { Sightings, toInterimPlan } from "./sightings.ts";
import type { MachineTask } from "./tasks.ts";

/** How far the work on a machine is. Times are in monotonic milliseconds. */
export interface Progress {
  readonly task: MachineTask;
  readonly plan: MachinePlan;
  /** Of the view that the plan is from. */
  readonly observedAtMs: number;
  /** When to look at it for a change; `Infinity`: when something changes. */
  readonly dueMs: number;
  /** When a look found nothing to do the last time. Absent: there was none in this process. */
  readonly foundMs?: number;
  /** Since when this process knows of the task. */
  readonly sinceMs: number;
  /** In a row. */
  readonly failures: number;
  /** Before this it is not due, because it failed. */
  readonly retryMs: number;
  /** Why it does not go on. */
  readonly failure?: StepFailure;
  /** Why the last attempt to make it failed, until a later one does not. */
  readonly setbacks: readonly MachineProblem[];
  /** Whether it was completed a moment ago, and only a look is missing that shows it. @default {false} */
  readonly isOver?: boolean;
  /** The last step, and how often it was made in a row. */
  readonly made?: { readonly step: string | undefined; readonly times: number };
}

/** Why a step failed, or was not made. */
export interface StepFailure {
  /** `decision`: a person must decide. */
  readonly kind: "decision" | "retry";
  /** A sentence without a full stop. */
  readonly message: string;
}

/** What a {@linkcode ProgressTracker} needs. */
interface TrackerOptions {
  readonly clock: Clock;
  readonly machines: Machines;
  /** The machines that are worked on now. */
  readonly work: { isWorking(machine: MachineIdentity): boolean };
  /** Randomness of the back-off, in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

const BACKOFF = { baseMs: 5_000, capMs: 300_000, jitter: 0.2 };
/** Another program may undo a step once or twice. */
const REPEATS_MAX = 4;
/** When to look again if the cloud could not say what is to do. */
const UNCLEAR_MS = 30_000;
/** For how long a look is believed that found a difference for a person: not all is in the inventory. */
const HOLDS_MS = 600_000;

/** Remembers the progress of machines by their names. */
export class ProgressTracker {
  /** They outlast a changed goal, and the work on a machine. */
  readonly sightings: Sightings = new Sightings();
  readonly #options: TrackerOptions;
  readonly #progress = new Map<string, Progress>();
  /** The cloud's IDs of machines that vanished last, by name. */
  readonly #vanished = new Map<string, string>();

  constructor(options: TrackerOptions) {
    this.#options = options;
  }

  /** What is known about a machine. */
  find(name: string): Progress | undefined {
    return this.#progress.get(name);
  }

  /** Whether a machine is worked on now. */
  isWorking({ identity }: MachineTask): boolean {
    return this.#options.work.isWorking(identity);
  }

  /** Forgets all machines but these, and those that are worked on. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const [name, { task }] of this.#progress) {
      if (!names.has(name) && !this.isWorking(task)) this.#progress.delete(name);
    }
  }

  /**
   * Plans a machine from the last inventory, unless a look at it is newer. A changed goal is tried at once. What is
   * worked on knows more than an inventory.
   */
  review(task: MachineTask, view: MachinesView, record: string | undefined): Progress {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#progress.get(task.name);
    if (known !== undefined && this.isWorking(task)) return known;
    const before = this.#findSame(task);
    if (before !== undefined && view.observedAtMs <= before.observedAtMs) {
      return this.#set({ ...before, task });
    }
    const seen = this.sightings.find(task.name, view.observedAtMs);
    const next = seen ? toInterimPlan(task.goal.kind, seen) : this.#plan(task, view, record);
    if (before !== undefined && holds(before, next)) {
      const { plan: found, foundMs = nowMs } = before;
      const plan = { ...found, ...(next.machine && { machine: next.machine }) };
      const dueMs = foundMs + HOLDS_MS;
      return this.#set({ ...before, task, plan, observedAtMs: view.observedAtMs, dueMs });
    }
    const plan = keepAgain(keepFound(next, before?.plan, view.pools), before, nowMs);
    const { foundMs, sinceMs = nowMs, failures = 0, retryMs = -Infinity, failure } = before ?? {};
    const isOver = before?.isOver === true && plan.needsLook === true;
    const wakeMs = plan.needsLook === true ? nowMs : nowMs + (plan.againMs ?? Infinity);
    return this.#set({
      task,
      plan,
      observedAtMs: seen?.atMs ?? view.observedAtMs,
      dueMs: Math.max(wakeMs, retryMs),
      ...(foundMs !== undefined && { foundMs }),
      sinceMs,
      failures,
      retryMs,
      setbacks: listSetbacks(next, before),
      ...(isOver && { isOver }),
      // What the inventory shows as right has not failed.
      ...(failure !== undefined && plan.needsLook === true && { failure }),
    });
  }

  /** Plans a machine from a look for a change, and notes when to look again if nothing can be done now. */
  look(
    task: MachineTask,
    view: MachinesView,
    record: string | undefined,
    seed?: MachineSpec["seed"],
  ): Progress {
    const nowMs = this.#options.clock.monotonic();
    const before = this.#findSame(task);
    const plan = this.#plan(task, view, record, seed);
    this.sightings.note(task.name, plan, view.observedAtMs);
    const { sinceMs = nowMs, failures = 0, retryMs = -Infinity, failure, made } = before ?? {};
    const setbacks = listSetbacks(plan, before);
    const seen = { task, plan, observedAtMs: view.observedAtMs, setbacks };
    const base = { ...seen, sinceMs, ...(made && { made }) };
    if (plan.steps.length > 0) {
      const last = failure === undefined ? {} : { failure };
      return this.#set({ ...base, dueMs: nowMs, failures, retryMs, ...last });
    }
    const isStuck = plan.problems.some(({ kind }) => kind !== "notice");
    if (isStuck) return this.#set({ ...base, ...this.#postpone(failures + 1, plan.againMs) });
    const isUnclear = plan.needsLook === true || plan.state === "Unknown";
    const againMs = plan.againMs ?? (isUnclear ? UNCLEAR_MS : Infinity);
    const dueMs = nowMs + againMs;
    return this.#set({ ...base, foundMs: nowMs, dueMs, failures: 0, retryMs: -Infinity });
  }

  /** Notes that the first step of the plan was made: look again at once, unless it was made too often. */
  noteStep(name: string): void {
    const before = this.#progress.get(name);
    if (before === undefined) return;
    const { failure: _over, ...rest } = before;
    const step = JSON.stringify(before.plan.steps[0]);
    const made = { step, times: before.made?.step === step ? before.made.times + 1 : 1 };
    const isOver = listNextSteps(before.plan).some(({ completes }) => completes === true);
    this.#set({ ...rest, made, isOver, dueMs: this.#options.clock.monotonic() });
    if (made.times < REPEATS_MAX) return;
    const { summary = "" } = before.plan.steps[0] ?? {};
    const what = `"${summary}" succeeded ${made.times} times in a row`;
    const message = `${what}. Another program may undo it each time`;
    this.noteFailure(name, { kind: "retry", message });
  }

  /** Notes that a step failed, or must not be made now. */
  noteFailure(name: string, failure: StepFailure): void {
    const before = this.#progress.get(name);
    if (before === undefined) return;
    this.#set({ ...before, ...this.#postpone(before.failures + 1), failure });
  }

  /** Notes that a complete machine is gone. @returns Whether that is new */
  noteVanished(name: string, id: string): boolean {
    const isNew = this.#vanished.get(name) !== id;
    this.#vanished.set(name, id);
    return isNew;
  }

  #findSame({ name, goal }: MachineTask): Progress | undefined {
    const before = this.#progress.get(name);
    return before !== undefined && isDeepStrictEqual(before.task.goal, goal) ? before : undefined;
  }

  #plan(
    { identity, goal }: MachineTask,
    view: MachinesView,
    record: string | undefined,
    seed?: MachineSpec["seed"],
  ): MachinePlan {
    const { machines } = this.#options;
    if (goal.kind === "remove") return machines.planRemoval(view, identity, record);
    return machines.plan(view, seed === undefined ? goal.spec : { ...goal.spec, seed }, record);
  }

  #postpone(
    failures: number,
    leastMs: number = 0,
  ): Pick<Progress, "dueMs" | "failures" | "retryMs"> {
    const { clock, random } = this.#options;
    const pauseMs = toBackoffMs(failures, { ...BACKOFF, ...(random && { random }) });
    const retryMs = clock.monotonic() + Math.max(pauseMs, leastMs);
    return { dueMs: retryMs, failures, retryMs };
  }

  #set(progress: Progress): Progress {
    this.#progress.set(progress.task.name, progress);
    return progress;
  }
}

/** An inventory does not show all for which a look at a complete machine asked to look again. */
function keepAgain(plan: MachinePlan, before: Progress | undefined, nowMs: number): MachinePlan {
  const isAsked = before?.plan.state === "Ready" && before.plan.againMs !== undefined;
  if (!isAsked || plan.state !== "Ready" || plan.needsLook === true) return plan;
  return { ...plan, againMs: Math.max(0, before.dueMs - nowMs) };
}
