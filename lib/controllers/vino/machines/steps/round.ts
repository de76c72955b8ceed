/**
 * One round of changes of the machines of a Vino: which ones, what must hold before, and what is recorded after.
 * @module
 */
import {
  listNextSteps,
  type MachinePlan,
  type MachineStep,
} from "../../../../cloud/capabilities/machines.ts";
import { toHostName } from "../../hosts/names.ts";
import { describeForeign } from "../../hosts/plan.ts";
import type { MachinesReport } from "../../status/outcome.ts";
import type { NeverComplete } from "../removal/never_complete.ts";
import { findForeignHost, findHostUse } from "../host_use.ts";
import type { MachineReconcilerOptions, ReconcileContext, ReconcileInput } from "../types.ts";
import { describeForeign as describeForeignObject, isReleased } from "../vino_machines.ts";
import { pickDue } from "./pick_due.ts";
import type { Progress, ProgressTracker } from "./progress_tracker.ts";
import { type StepInput, runSteps } from "./run_steps.ts";
import type { MachineTask } from "./tasks.ts";

/** What {@linkcode runRound} needs. */
interface RoundOptions extends Pick<
  MachineReconcilerOptions,
  | "clock"
  | "fence"
  | "hosts"
  | "machineEvents"
  | "machines"
  | "machinesMax"
  | "objects"
  | "readSeed"
> {
  readonly tracker: ProgressTracker;
  /** Learns which machines are begun, and which become complete. */
  readonly neverComplete: Pick<NeverComplete, "noteSteps">;
}

/** What a round is about. */
interface RoundSubject {
  readonly input: ReconcileInput;
  /** All machines of the Vino, in the order in which they are to be made. */
  readonly tasks: readonly MachineTask[];
  /** What is reported now. */
  readonly toReport: () => MachinesReport;
}

/**
 * Changes the machines that are due, one step of each.
 *
 * @returns Whether there was something to do
 * @throws as {@linkcode runSteps}
 */
export async function runRound(
  { input, tasks, toReport }: RoundSubject,
  options: RoundOptions,
  context: ReconcileContext,
): Promise<boolean> {
  const { tracker, machineEvents } = options;
  const due = pickDue(tasks, options);
  if (due.length === 0) return false;
  if (!(await context.confirm())) return true;
  if (due.some(isBeginning) && !(await context.announce(toReport()))) return true;
  await runSteps(toStepInput(input, due, options), options, context.signal);
  for (const { name, identity } of due) {
    const failure = findFailure(tracker.find(name));
    if (failure === undefined) continue;
    const { message, retryMs } = failure;
    const retryInMs = retryMs - options.clock.monotonic();
    machineEvents.recordFailed(input.vino, { name, ...identity }, { message, retryInMs });
  }
  return true;
}

/** Why a machine that was looked at must wait for another try. A lost pool is no failure of a machine. */
function findFailure(
  progress: Progress | undefined,
): { readonly message: string; readonly retryMs: number } | undefined {
  if (progress === undefined) return undefined;
  const { failure, plan, retryMs } = progress;
  if (failure !== undefined) {
    return failure.kind === "retry" ? { message: failure.message, retryMs } : undefined;
  }
  if (plan.steps.length > 0 || plan.state === "Unknown") return undefined;
  const problem = plan.problems.find(({ kind }) => kind === "retry");
  return problem && { message: problem.message, retryMs };
}

/** Why a removal that only frees addresses does not go on. */
const LEFT_MESSAGE =
  "The cloud still has something of the machine. Landfall keeps it, because deletionPolicy is Retain. " +
  "Delete it in the cloud if you do not need its data, or set deletionPolicy to Delete";

/** Whether it is the first step of the removal of a machine. */
function isBeginning({ goal, known }: MachineTask): boolean {
  return goal.kind === "remove" && known !== undefined && known.entry?.state !== "Removing";
}

function toStepInput(
  input: ReconcileInput,
  due: readonly MachineTask[],
  options: RoundOptions,
): StepInput {
  const { vino } = input;
  return {
    due,
    record: (task) => options.objects.record(vino, task),
    readSeed: (task, signal) => options.readSeed(vino, task, signal),
    findObstacle: (task, plan) => checkStep(input, task, plan, options),
    noteNextSteps: (task, plan) => options.neverComplete.noteSteps(task, plan),
    noteStep: (task, plan, step) => recordStep(vino, task, plan, step, options),
  };
}

/** Records a machine that vanished. @returns Why the first step must not be made; no full stop */
function checkStep(
  { vino, deletes }: ReconcileInput,
  { name, identity, goal, known }: MachineTask,
  plan: MachinePlan,
  { hosts, machineEvents, objects, tracker }: RoundOptions,
): string | undefined {
  const other = objects.findForeign(vino, identity);
  const isLeft = other !== undefined && isReleased(other);
  // Of a Vino that ends, what a machine needs is kept in memory.
  const isEnd = goal.kind === "remove" && vino.metadata.deletionTimestamp !== undefined;
  if (other !== undefined && !(isLeft && isEnd)) {
    const why = "Landfall keeps there what it must know about the machine after a restart";
    const advice = isLeft
      ? "Landfall goes on with the machine when that object is gone"
      : "Delete that object if nothing needs it, or give this Vino another name";
    return `${describeForeignObject(other)}. ${why}. ${advice}`;
  }
  if (goal.kind === "remove") {
    const takesData = listNextSteps(plan).some(
      ({ isQuestion, isCleanup }) => isQuestion !== true && isCleanup !== true,
    );
    return takesData && !deletes ? LEFT_MESSAGE : undefined;
  }
  if (plan.state !== "Absent") return undefined;
  const taken = findForeignHost(hosts, vino, identity);
  if (taken !== undefined && !taken.isDeleting) {
    const advice = "delete that BareMetalHost if nothing uses it, or give this Vino another name";
    return `${describeForeign(taken)}. Landfall makes no machine that it cannot publish: ${advice}`;
  }
  const use = findHostUse(hosts, vino, identity);
  const host = toHostName({ vino: vino.metadata.name, ...identity });
  const said = use === undefined ? undefined : `BareMetalHost ${host} ${use}`;
  const { state, machineId = "" } = known?.entry ?? {};
  // Its object may have lost what it said of the machine, if others had to be made before it.
  const lostId = plan.vanishedId ?? (state === "Ready" ? machineId : undefined);
  if (lostId !== undefined && tracker.noteVanished(name, lostId)) {
    machineEvents.recordVanished(vino, { name, ...identity }, said);
  }
  if (said === undefined) return undefined;
  const advice = "Delete what uses the host. Then Landfall makes the machine again";
  return `The machine does not exist any more. ${said}. ${advice}`;
}

function recordStep(
  vino: ReconcileInput["vino"],
  { name, identity, goal }: MachineTask,
  { state }: MachinePlan,
  { summary, isNews }: MachineStep,
  { machineEvents }: RoundOptions,
): void {
  if (isNews !== true) return;
  const isNew = goal.kind === "exist" && state === "Absent";
  const machine = { name, ...identity };
  if (isNew) machineEvents.recordCreated(vino, machine);
  else machineEvents.recordChanged(vino, machine, summary);
}
