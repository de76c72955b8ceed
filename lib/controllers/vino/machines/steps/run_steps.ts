/**
 * Brings machines of a Vino one step further: one look at the cloud for several machines, then the first step of each.
 * @module
 */
import {
  listNextSteps,
  type MachinePlan,
  type MachineRecord,
  type Machines,
  type MachineSeed,
  type MachineStep,
} from "../../../../cloud/capabilities/machines.ts";
import { RefusedMachineError } from "../../../../cloud/capabilities/refused_errors.ts";
import { type Clock, startDeadline } from "../../../../core/clock.ts";
import { describeCause } from "../../../kinds/problems.ts";
import { type Fence, LeadershipLostError } from "../../../../core/fence.ts";
import type { ProgressTracker, StepFailure } from "./progress_tracker.ts";
import type { MachineTask } from "./tasks.ts";

/** What {@linkcode runSteps} works with. */
export interface StepOptions {
  readonly clock: Clock;
  readonly machines: Machines;
  /** Of the controller's Lease. */
  readonly fence: Fence;
  readonly tracker: ProgressTracker;
}

/** What {@linkcode runSteps} works on: machines of one Vino. */
export interface StepInput {
  /** Machines that `pickDue()` picked. */
  readonly due: readonly MachineTask[];
  record(task: MachineTask): MachineRecord;
  /** What a machine reads at its first start. @throws an error that is that machine's alone */
  readSeed(task: MachineTask, signal: AbortSignal): Promise<MachineSeed | undefined>;
  /** Why the first step of a plan must not be made now; no full stop. `undefined`: it may be made. */
  findObstacle(task: MachineTask, plan: MachinePlan): string | undefined;
  /** Called right before the next steps of a plan are made. */
  noteNextSteps(task: MachineTask, plan: MachinePlan): void;
  /** Called after each step that was made, also if one that follows it directly fails. */
  noteStep(task: MachineTask, plan: MachinePlan, step: MachineStep): void;
}

/** A step has a deadline of its own; this one only ends what ignores it. */
const STEP_TIMEOUT_MS = 1_800_000;

/**
 * Looks at machines, and makes the first step of each.
 *
 * A machine whose step failed waits by itself; others go on.
 *
 * @throws {CloudError} if the cloud cannot answer, or if steps of other machines cannot succeed either
 * @throws {LeadershipLostError} if this process does not lead
 */
export async function runSteps(
  input: StepInput,
  options: StepOptions,
  signal: AbortSignal,
): Promise<void> {
  const { machines, tracker } = options;
  const { due } = input;
  const question = { isForChange: true, machines: due.map(({ identity }) => identity) };
  const view = await machines.observe(question, signal);
  const ready: { readonly task: MachineTask; readonly plan: MachinePlan }[] = [];
  for (const task of due) {
    const { text } = input.record(task);
    let { plan } = tracker.look(task, view, text);
    if (needsSeed(task, plan)) {
      const seed = await readSeed(task, input, tracker, signal);
      if (seed === FAILED) continue;
      if (seed !== undefined) ({ plan } = tracker.look(task, view, text, seed));
    }
    if (plan.steps.length === 0) continue;
    const obstacle = input.findObstacle(task, plan);
    if (obstacle !== undefined) {
      tracker.noteFailure(task.name, { kind: "decision", message: obstacle });
      continue;
    }
    input.noteNextSteps(task, plan);
    ready.push({ task, plan });
  }
  const errors = await Promise.all(
    ready.map(({ task, plan }) => makeStep(task, plan, input, options, signal)),
  );
  signal.throwIfAborted();
  const fatal =
    errors.find((error) => error instanceof LeadershipLostError) ?? errors.find(Boolean);
  if (fatal !== undefined) throw fatal;
}

/** Only a machine that is not complete reads a seed, and only if its cloud has something to do now. */
function needsSeed({ goal }: MachineTask, { steps, machine }: MachinePlan): boolean {
  return goal.kind === "exist" && steps.length > 0 && machine?.isComplete !== true;
}

const FAILED = Symbol("failed");

async function readSeed(
  task: MachineTask,
  input: StepInput,
  tracker: ProgressTracker,
  signal: AbortSignal,
): Promise<MachineSeed | undefined | typeof FAILED> {
  try {
    return await input.readSeed(task, signal);
  } catch (error) {
    signal.throwIfAborted();
    tracker.noteFailure(task.name, { kind: "retry", message: describeCause(error) });
    return FAILED;
  }
}

/** @returns The error if others cannot go on either */
async function makeStep(
  task: MachineTask,
  plan: MachinePlan,
  input: StepInput,
  { clock, machines, fence, tracker }: StepOptions,
  signal: AbortSignal,
): Promise<unknown> {
  using deadline = startDeadline(signal, STEP_TIMEOUT_MS, clock);
  for (const step of listNextSteps(plan)) {
    try {
      await machines.apply(step, { record: input.record(task), fence }, deadline.signal);
    } catch (error) {
      const isOver = signal.aborted || error instanceof LeadershipLostError;
      if (isOver || !machines.mayGoOn(error)) return error;
      tracker.noteFailure(task.name, toFailure(step, error));
      return undefined;
    }
    input.noteStep(task, plan, step);
  }
  tracker.noteStep(task.name);
  return undefined;
}

/** Landfall tries again in any case; but some refusals only a person can end. */
function toFailure({ summary }: MachineStep, error: unknown): StepFailure {
  // A refusal says by itself what was asked for.
  const refusal = error instanceof RefusedMachineError ? error.problem : undefined;
  return {
    kind: refusal?.kind === "decision" ? "decision" : "retry",
    message: refusal?.message ?? `Cannot ${summary}: ${describeCause(error)}`,
  };
}
