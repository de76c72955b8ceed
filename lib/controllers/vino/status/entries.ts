/**
 * What the status and the pages say about single machines. Pure.
 * @module
 */
import { formatTime } from "../../../core/clock.ts";
import type { MachineProblem } from "../../../cloud/capabilities/machines.ts";
import { toMessage } from "../../../core/text/printable.ts";
import type { GuestInterface } from "../guest/types.ts";
import type { VinoNode } from "../resource/vino.ts";
import type { MachineEntry } from "../resource/vino_machine.ts";
import type { MachineReport } from "./outcome.ts";
import type { Moment } from "../machines/removal/limit.ts";
import { describeWayOut } from "../machines/removal/lost_pool.ts";
import type { Progress } from "../machines/steps/progress_tracker.ts";
import type { MachineTask } from "../machines/steps/tasks.ts";
import type { KnownMachine } from "../placement/known.ts";
import type { PlacedMachine } from "../placement/placement.ts";
import { EVENT_WORDS } from "../words.ts";

/** The address by which people know a machine: of the interface that boots, otherwise the first there is. */
export function findAddress(
  interfaces: readonly GuestInterface[],
  { bootInterfaceName }: Pick<VinoNode, "bootInterfaceName">,
): string | undefined {
  const boot = interfaces.find(({ name }) => name === bootInterfaceName);
  return [...(boot ? [boot] : []), ...interfaces].flatMap(({ addresses }) => addresses)[0]?.ip;
}

/** What is reported besides the plan. */
interface ReportOptions {
  readonly isWanted: boolean;
  readonly address?: string | undefined;
  /** What is worth knowing, if the plan itself says nothing. */
  readonly remark?: string | undefined;
  /** As in the outcome of its host. */
  readonly differences?: readonly string[] | undefined;
  /** What is worth knowing about its place. */
  readonly place?: MachineProblem | undefined;
  /** Whether it is worked on now. @default {false} */
  readonly isWorking?: boolean;
  /** When it is reported. */
  readonly now: Moment;
}

/** Reports on a machine with a plan. */
export function reportProgress(
  progress: Progress,
  { isWanted, address, remark, differences = [], place, isWorking = false, now }: ReportOptions,
): MachineReport {
  const { task, plan, failure, setbacks } = progress;
  const { name, identity, hostId, known, goal } = task;
  const { role, index } = identity;
  const own = failure === undefined ? [] : [{ reason: REASONS[failure.kind], ...failure }];
  const present = [...own, ...plan.problems, ...(place ? [place] : [])];
  const past = present.some(({ kind }) => kind !== "notice") ? [] : setbacks;
  const ofMachine = [...past, ...present].map((one) => addWayOut(addUse(one, known), task));
  const problems = [...ofMachine, ...differences.map(toHostProblem)];
  const isBlocked = failure?.kind === "decision";
  // Until it is proven gone, its removal goes on; also while its pool is lost, or others would be removed in its place.
  const isLost = plan.state === "Unknown" && known?.isRemoving === true;
  const isGoing = goal.kind === "remove" && (plan.state === "Absent" || isLost);
  const state = isGoing ? "Removing" : plan.state;
  // A cloud that does not answer does not make a machine forgotten.
  const machineId =
    plan.machine?.id ?? (plan.state === "Unknown" ? known?.entry?.machineId : undefined);
  const first = ofMachine.slice(0, 1).map((one) => one.message);
  const isRetried = ofMachine[0]?.kind === "retry" && progress.retryMs > now.monotonicMs;
  const retryAt = isRetried ? toTime(progress.retryMs, now) : undefined;
  const message =
    problems.length === 0
      ? (remark ?? describeWait(progress, isWorking, now))
      : [...first, ...differences].join(". ");
  return {
    entry: toEntry({
      name,
      role,
      index,
      host: hostId,
      machineId,
      address,
      // A complete machine stays complete.
      state: isBlocked && state !== "Ready" ? "Blocked" : state,
      message,
    }),
    isWanted,
    problems,
    parts: plan.parts,
    ...(plan.machine && { power: plan.machine.power }),
    ...(retryAt !== undefined && { retryAt }),
  };
}

/** What a machine waits for of which nothing is there, or nothing is known. */
function describeWait(
  { plan, task, dueMs }: Progress,
  isWorking: boolean,
  now: Moment,
): string | undefined {
  if (plan.state === "Unknown") return "Landfall asks the cloud whether it exists";
  if (plan.state !== "Absent" || task.goal.kind !== "exist" || isWorking) return undefined;
  // It is due, and others were before it.
  if (dueMs <= now.monotonicMs)
    return "Landfall makes it after others: it makes only a few at once";
  return dueMs === Infinity ? undefined : `Landfall makes it at ${toTime(dueMs, now)}`;
}

function toTime(atMs: number, { monotonicMs, wallMs }: Moment): string {
  return formatTime(Math.ceil((wallMs + atMs - monotonicMs) / 1_000) * 1_000);
}

const REASONS = { decision: "DecisionNeeded", retry: "StepFailed" } as const;

/** The machine can be used, but not by metal3. */
function toHostProblem(message: string): MachineProblem {
  return { reason: EVENT_WORDS.hostDiffers.reason, kind: "notice", message };
}

/** Before a person deletes a machine, they must know whether something works on it. */
function addUse(
  problem: MachineProblem,
  known: Pick<KnownMachine, "isConsumed"> | undefined,
): MachineProblem {
  if (problem.losesMachine !== true) return problem;
  const use =
    known?.isConsumed === true
      ? "An object uses its BareMetalHost: keep the machine until none does"
      : "No object uses its BareMetalHost now";
  return { ...problem, message: `${problem.message}. ${use}` };
}

/** A machine that must exist may be made again elsewhere: then a person changes the spec. */
function addWayOut(problem: MachineProblem, { identity, goal }: MachineTask): MachineProblem {
  const { missingPoolId } = problem;
  if (missingPoolId === undefined || goal.kind !== "remove") return problem;
  const way = describeWayOut(identity.owner, missingPoolId, goal.gonePools);
  return way === undefined ? problem : { ...problem, message: `${problem.message}. ${way}` };
}

/**
 * Reports on a machine with which nothing is done.
 *
 * @param message Why
 * @param differs Whether it has other addresses than the spec gives it
 */
export function reportIdle(
  machine: Pick<KnownMachine, "hostId" | "index" | "machine" | "name" | "role"> &
    Pick<KnownMachine, "entry">,
  isWanted: boolean,
  message: string,
  differs = false,
): MachineReport {
  const { name, role, index, hostId: host, machine: shown, entry } = machine;
  const machineId = shown?.id ?? entry?.machineId;
  const state = shown === undefined ? "Unknown" : shown.isComplete ? "Ready" : "Unfinished";
  const { address } = entry ?? {};
  return {
    entry: toEntry({ name, role, index, host, machineId, address, state, message }),
    isWanted,
    problems: differs && state === "Ready" ? [toAddressProblem(message)] : [],
    parts: [],
  };
}

function toAddressProblem(message: string): MachineProblem {
  return { reason: EVENT_WORDS.addressesDiffer.reason, kind: "notice", message };
}

/** Reports on a machine that is wanted and was not begun. @param message Why */
export function reportAbsent(
  name: string,
  { role, index, hostId }: PlacedMachine,
  message: string,
): MachineReport {
  const state = "Absent";
  return {
    entry: toEntry({ name, role, index, host: hostId, state, message }),
    isWanted: true,
    problems: [],
    parts: [],
  };
}

/** An entry without the fields that have no value. */
function toEntry({
  name,
  role,
  index,
  host,
  machineId,
  address,
  state,
  message,
}: Pick<MachineEntry, "index" | "name" | "role" | "state"> & {
  readonly [Key in "address" | "host" | "machineId" | "message"]?: string | undefined;
}): MachineReport["entry"] {
  return {
    name,
    role,
    index,
    ...(host !== undefined && { host }),
    ...(machineId !== undefined && { machineId }),
    ...(address !== undefined && { address }),
    state,
    ...(message !== undefined && { message: toMessage(message) }),
  };
}
