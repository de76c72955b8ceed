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
  type MachinePool,
} from "../../../../cloud/capabilities/machines.ts";
import { type Clock, toBackoffMs } from "../../../../core/clock.ts";
import { Sightings, toInterimPlan } from "../../placement/known.ts";
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

/** Whether a person must decide before the work on a machine goes on. */
export function isDecisionNeeded(progress: Progress | undefined): boolean {
  const { failure, plan } = progress ?? {};
  const isBlocked = plan?.problems.some(({ kind }) => kind === "decision") === true;
  return failure?.kind === "decision" || isBlocked;
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

/** Whether a look found that a machine differs, and nothing to do; and the inventory shows nothing else since. */
export function holds(
  {
    plan,
    failures,
    foundMs,
  }: {
    readonly plan: MachinePlan;
    readonly failures: number;
    /** When a look found nothing to do. Absent: none did. */
    readonly foundMs?: number;
  },
  next: MachinePlan,
): boolean {
  const isFound = foundMs !== undefined && failures === 0 && plan.needsLook !== true;
  const differs = plan.problems.length > 0 && plan.problems.every(({ kind }) => kind === "notice");
  const isSame = plan.shown !== undefined && plan.shown === next.shown;
  return isFound && differs && isSame && plan.steps.length === 0;
}

/**
 * Adds to the plan from an inventory what was found before.
 *
 * @param before The plan so far, of the same goal
 * @param pools Of the inventory
 */
export function keepFound(
  plan: MachinePlan,
  before: MachinePlan | undefined,
  pools: readonly MachinePool[],
): MachinePlan {
  return before === undefined ? plan : keepDisks(keepProblems(plan, before, pools), before);
}

/**
 * Why the last attempt to make a machine failed: known until a look finds something else, or the machine is made.
 *
 * @param plan From a look or an inventory, without what is kept
 * @param before What is known so far, of the same goal
 */
export function listSetbacks(
  { state, problems, needsLook = false }: MachinePlan,
  before: { readonly setbacks: readonly MachineProblem[] } | undefined,
): readonly MachineProblem[] {
  // A look that finds nothing proves why: it judges the last attempt, and all that a new one depends on.
  if (state === "Absent" && !needsLook) return problems.filter(isRetry);
  return state === "Absent" || state === "Creating" ? (before?.setbacks ?? []) : [];
}

function isRetry({ kind }: MachineProblem): boolean {
  return kind === "retry";
}

/** Only a look shows disks. They are the same as long as the machine has what it had. */
function keepDisks(plan: MachinePlan, before: MachinePlan): MachinePlan {
  const isSame = plan.isBuilt === true && plan.machine?.id === before.machine?.id;
  if (!isSame || plan.disks !== undefined || before.disks === undefined) return plan;
  return { ...plan, disks: before.disks };
}

/** What a person must decide, or should know, stands until a look or an inventory shows that it is over. */
function keepProblems(
  plan: MachinePlan,
  before: MachinePlan,
  pools: readonly MachinePool[],
): MachinePlan {
  if (plan.needsLook !== true) return plan;
  const { state, problems, parts } = before;
  if (problems.some(({ kind }) => kind === "decision")) return { ...plan, state, problems };
  const isLost = plan.state === "Unknown";
  const wasLost = state === "Unknown";
  // A look says more about a pool that is lost, and how a person can say that it is gone.
  if (isLost && wasLost && problems.length > 0) return { ...plan, problems };
  // Only a look knows that a machine may be in a lost pool that is not that of the spec.
  const hides = ({ missingPoolId: id }: MachineProblem): boolean =>
    id === undefined
      ? pools.some(({ isComplete }) => !isComplete)
      : !pools.some((pool) => pool.id === id && pool.isComplete);
  if (plan.state === "Absent" && wasLost && problems.some(hides)) {
    return { ...plan, state, problems };
  }
  // A pool that is lost, or answers again, is other news. So is a machine that came or went.
  const isSame = !isLost && !wasLost && plan.machine?.id === before.machine?.id;
  const failures = isSame ? problems.filter(isRetry) : [];
  const notices = problems.filter(({ kind }) => kind === "notice");
  if (notices.length > 0 && plan.state === "Ready") {
    return { ...plan, problems: [...failures, ...notices], parts };
  }
  return failures.length === 0 ? plan : { ...plan, problems: failures };
}

/** What {@linkcode pickDue} needs. */
interface DueOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly tracker: Pick<ProgressTracker, "find" | "isWorking">;
  /** How many machines change at once, besides those that are worked on and are no tasks any more. */
  readonly machinesMax: number;
}

/** An inventory does not show all that a person can change, for example the storage of a disk. */
const CHECK_MS = 3_600_000;
/** What is due so soon after what is due now needs no look of its own. */
const SOON_MS = 1_000;

/**
 * Picks the machines that are due now: those that were begun first, and others as far as there is room beside those
 * that are worked on already. If there is none, it picks some of those at which no look was for an hour.
 *
 * @param tasks All machines of the Vino, in the order in which they are to be made
 */
export function pickDue(
  tasks: readonly MachineTask[],
  { clock, tracker, machinesMax }: DueOptions,
): MachineTask[] {
  const nowMs = clock.monotonic();
  const all = tasks.flatMap((task): Candidate[] => {
    const progress = tracker.find(task.name);
    if (progress === undefined) return [];
    const { isOver = false } = progress;
    const isWorking = tracker.isWorking(task);
    return [{ task, progress, isWorking, isBegun: isWorking || isBegun(progress), isOver }];
  });
  const idle = all.filter(({ isWorking }) => !isWorking);
  const due = idle.filter(({ progress }) => progress.dueMs <= nowMs);
  const picked = due.length === 0 ? [] : pickMore(all, due, nowMs + SOON_MS, machinesMax);
  const checked = idle.filter((one) => isCheckDue(one.progress, nowMs));
  const rest = checked.slice(0, Math.max(0, machinesMax - (all.length - idle.length)));
  return (picked.length > 0 ? picked : rest).map(({ task }) => task);
}

interface Candidate {
  readonly task: MachineTask;
  readonly progress: Progress;
  /** Whether it is worked on already. */
  readonly isWorking: boolean;
  readonly isBegun: boolean;
  readonly isOver: boolean;
}

/** One look serves all that wait for the cloud, and those that are over make room for others. */
function pickMore(
  all: readonly Candidate[],
  due: readonly Candidate[],
  soonMs: number,
  machinesMax: number,
): Candidate[] {
  const isBusy = ({ isBegun: isOne, isOver: isEnd, isWorking, progress }: Candidate): boolean =>
    isOne && !isEnd && (isWorking || progress.dueMs < Infinity);
  const begun = all.filter((one) => {
    return one.isBegun && !one.isWorking && one.progress.dueMs <= soonMs;
  });
  const taken = all.filter((one) => one.isWorking && isBusy(one)).length;
  const open = begun.filter((one) => !one.isOver).slice(0, Math.max(0, machinesMax - taken));
  const room = Math.max(0, machinesMax - all.filter(isBusy).length);
  const fresh = due.filter((one) => !one.isBegun).slice(0, room);
  return [...begun.filter((one) => one.isOver), ...open, ...fresh];
}

/** Whether a machine at rest was not looked at for long. */
function isCheckDue({ plan, dueMs, foundMs, sinceMs }: Progress, nowMs: number): boolean {
  return plan.state === "Ready" && dueMs === Infinity && nowMs - (foundMs ?? sinceMs) >= CHECK_MS;
}

const BEGUN: ReadonlySet<MachinePlan["state"]> = new Set(["Creating", "Unfinished", "Removing"]);

/** Whether the cloud may work on a machine. One that failed and waits takes no place from others. */
function isBegun({ plan, failures }: Progress): boolean {
  return failures === 0 && BEGUN.has(plan.state);
}
