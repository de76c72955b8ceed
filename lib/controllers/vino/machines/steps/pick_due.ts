/**
 * Which machines of a Vino are worked on next. Pure.
 * @module
 */
import type { MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../../core/clock.ts";
import type { Progress, ProgressTracker } from "./progress_tracker.ts";
import type { MachineTask } from "./tasks.ts";

/** What {@linkcode pickDue} needs. */
interface DueOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly tracker: Pick<ProgressTracker, "find" | "isWorking">;
  /** How many machines change at once. */
  readonly machinesMax: number;
}

/** An inventory does not show all that a person can change, for example the storage of a disk. */
const CHECK_MS = 21_600_000;
/** What is due so soon after what is due now needs no look of its own. */
const SOON_MS = 1_000;

/**
 * Picks the machines that are due now: those that were begun first, and others as far as there is room beside those
 * that are worked on already. If there is none, it picks some of those at which no look was for six hours.
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
