/**
 * Which machines of a Vino are worked on in a round. Pure.
 * @module
 */
import type { MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../../core/clock.ts";
import type { Progress, ProgressTracker } from "./progress_tracker.ts";
import type { MachineTask } from "./tasks.ts";

/** What {@linkcode pickDue} needs. */
export interface DueOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly tracker: Pick<ProgressTracker, "find">;
  /** How many machines change at once. */
  readonly machinesMax: number;
}

/** An inventory does not show all that a person can change, for example the storage of a disk. */
const CHECK_MS = 21_600_000;

/**
 * Picks the machines that are due now: those that were begun first, and others as far as there is room. If there is
 * none, it picks some of those at which no look was for six hours.
 *
 * @param tasks All machines of the Vino, in the order in which they are to be made
 */
export function pickDue(
  tasks: readonly MachineTask[],
  { clock, tracker, machinesMax }: DueOptions,
): MachineTask[] {
  const nowMs = clock.monotonic();
  const all = tasks.flatMap((task) => {
    const progress = tracker.find(task.name);
    return progress === undefined ? [] : [{ task, progress, isBegun: isBegun(progress) }];
  });
  const due = all.filter(({ progress }) => progress.dueMs <= nowMs);
  const begun = due.filter((one) => one.isBegun);
  const busy = all.filter((one) => one.isBegun && one.progress.dueMs < Infinity).length;
  const fresh = due.filter((one) => !one.isBegun);
  const room = Math.max(0, machinesMax - busy);
  const picked = [...begun, ...fresh.slice(0, room)];
  const checked = picked.length > 0 ? picked : all.filter((one) => isCheckDue(one.progress, nowMs));
  return checked.slice(0, machinesMax).map(({ task }) => task);
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
