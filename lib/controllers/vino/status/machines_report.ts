/**
 * Puts together what the status and the pages say about the machines of a Vino. Pure.
 * @module
 */
import {
  type MachinePool,
  type MachineProblem,
  toMachineName,
} from "../../../cloud/capabilities/machines.ts";
import { formatTime } from "../../../core/clock.ts";
import { toMessage } from "../../../core/text/printable.ts";
import type { Addresses } from "../addresses/types.ts";
import type { GuestInterface } from "../guest/types.ts";
import { type ShownHost, toShownState } from "../hosts/host_facts.ts";
import { toHostName } from "../hosts/names.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { Moment } from "../machines/removal/limit.ts";
import {
  describeIdlePools,
  describeWayOut,
  type RemovalDecision,
} from "../machines/removal/removals.ts";
import type { Progress, ProgressTracker } from "../machines/steps/progress_tracker.ts";
import type { IdleMachine, MachineTask } from "../machines/steps/tasks.ts";
import { compareKnown, type KnownMachine } from "../placement/known.ts";
import { describeOtherPool, type Snapshot } from "../placement/snapshot.ts";
import type { Role } from "../resource/role_form.ts";
import type { VinoNode, VinoRemoval } from "../resource/vino.ts";
import { EVENT_WORDS } from "../words.ts";
import { describeAlike } from "./status.ts";
import { toForm } from "./machine_status.ts";
import type { MachineReport, MachinesReport } from "./outcome.ts";

/** What a report is made from. */
interface ReportInput {
  readonly snapshot: Snapshot;
  /** Absent: nothing is wanted any more. */
  readonly roles: ReadonlyMap<string, Role> | undefined;
  readonly addresses: Addresses;
  readonly wanted: readonly MachineTask[];
  readonly idle: readonly IdleMachine[];
  readonly removals: readonly MachineTask[];
  readonly decision: RemovalDecision;
  /** How far hosts are, by name of the machine. */
  readonly hosts: ReadonlyMap<string, HostOutcome>;
  /** The hosts that exist, as they were last seen. They count for machines that {@linkcode hosts} lacks. */
  readonly shown: readonly ShownHost[];
  readonly tracker: Pick<ProgressTracker, "find" | "isWorking">;
  /** What a person said about lost pools: the value of the annotation. */
  readonly gonePools: string | undefined;
  /** Machines that were removed a short time ago. */
  readonly removed: readonly VinoRemoval[];
  /** Whether a machine is proven gone. */
  readonly isGone: (name: string) => boolean;
  /** Whether what is left of a machine that should go stays in the cloud. */
  readonly isLeft: (task: MachineTask) => boolean;
  /** When it is made. */
  readonly now: Moment;
}

/** Makes a report. */
export function makeReport(input: ReportInput): MachinesReport {
  const { snapshot, decision, addresses, hosts } = input;
  const { placement, owner, view } = snapshot;
  const names = new Set(placement.wanted.map((one) => toMachineName({ owner, ...one })));
  const machines: MachineReport[] = [
    ...input.wanted.flatMap((task) => reportWanted(task, input)),
    ...input.idle.map(({ name, placed: { known, ...place }, why, differs }) =>
      reportIdle({ ...place, ...known, name, isPlanned: known === undefined }, why, differs),
    ),
    ...decision.staying.map(({ machine, why, isKept }) => ({
      ...reportIdle(machine, why),
      isWanted: false,
      isKept,
    })),
    ...input.removals.flatMap((task) => reportRemoval(task, input)),
  ];
  const shown = new Map(input.shown.map((one) => [one.name, one]));
  const hostNames = new Map(view.hosts.map(({ id, name }) => [id, name]));
  const pools = toPools(input);
  const { contraction } = decision;
  return {
    wantedCount: placement.wantedCount,
    machines: machines
      .map((one): MachineReport => {
        const { entry } = one;
        const hostDisplayName = hostNames.get(entry.host ?? "");
        const state = findState(one, owner.name, { hosts, shown });
        return {
          ...one,
          entry: {
            ...entry,
            ...(hostDisplayName !== undefined && { hostDisplayName }),
            ...(state !== undefined && state !== "Gone" && { bareMetalHost: state }),
          },
          isSilent: isSilent(one, pools.get(entry.name), view.pools),
        };
      })
      .toSorted((a, b) => compareKnown(a.entry, b.entry)),
    shortages: placement.shortages,
    ...describeProblems(addresses, names),
    notices: [
      ...placement.notices,
      ...addresses.notices,
      ...describeIdlePools(input.gonePools, view.pools, machines),
    ],
    hosts: input.wanted.flatMap(({ name }) => hosts.get(name) ?? []),
    ...(contraction && { contraction }),
    removals: input.removed,
  };
}

function describeProblems(
  { problems, differing }: Addresses,
  wanted: ReadonlySet<string>,
): Pick<MachinesReport, "addressDifferences" | "addressProblems"> {
  const lines = Array.from(problems, ([name, message]) => ({ name, message })).filter(({ name }) =>
    wanted.has(name),
  );
  const others = lines.filter(({ name }) => !differing?.has(name));
  return {
    addressProblems: [...new Set(others.map(({ message }) => message))],
    addressDifferences: describeAlike(lines.filter(({ name }) => differing?.has(name))),
  };
}

/** The pools that have machines, or are to have them, by name of the machine. Those that are not known are missing. */
function toPools({ snapshot: { poolId, known }, wanted, idle }: ReportInput): Map<string, string> {
  const pools = new Map<string, string>();
  for (const { name } of idle) if (poolId !== undefined) pools.set(name, poolId);
  for (const { name, goal } of wanted) if (goal.kind === "exist") pools.set(name, goal.spec.poolId);
  for (const { name, machine } of known) if (machine) pools.set(name, machine.poolId);
  return pools;
}

/** A machine that is only not shown yet says nothing about the cloud. */
function isSilent(
  { entry }: MachineReport,
  poolId: string | undefined,
  pools: readonly MachinePool[],
): boolean {
  if (entry.state !== "Unknown") return false;
  const asked = poolId === undefined ? pools : pools.filter(({ id }) => id === poolId);
  return asked.length === 0 || !asked.every(({ isComplete }) => isComplete);
}

/** How far the host of a machine is: what this round did with it, otherwise what is shown. */
function findState(
  { entry, isWanted }: MachineReport,
  vino: string,
  { hosts, shown }: Pick<ReportInput, "hosts"> & { readonly shown: ReadonlyMap<string, ShownHost> },
): HostOutcome["state"] | undefined {
  const outcome = hosts.get(entry.name);
  if (outcome !== undefined) return outcome.state;
  const host = shown.get(toHostName({ vino, ...entry }));
  return host && toShownState(host, isWanted);
}

function reportWanted(
  task: MachineTask,
  { snapshot, tracker, roles, addresses, hosts, now }: ReportInput,
): MachineReport[] {
  const progress = tracker.find(task.name);
  const node = roles?.get(task.identity.role)?.node;
  if (progress === undefined || node === undefined) return [];
  const { differences, error, notices = [], message } = hosts.get(task.name) ?? {};
  const broken = error && `metal3 reports an error of its BareMetalHost: ${error}`;
  const report = reportProgress(progress, {
    isWanted: true,
    address: findAddress(addresses.machines.get(task.name) ?? [], node),
    remark: message ?? broken ?? notices[0],
    differences,
    place: task.known && describeOtherPool(task.known, snapshot),
    isWorking: tracker.isWorking(task),
    now,
  });
  return [{ ...report, form: toForm(task) }];
}

/** The address by which people know a machine: of the interface that boots, otherwise the first there is. */
export function findAddress(
  interfaces: readonly GuestInterface[],
  { bootInterfaceName }: Pick<VinoNode, "bootInterfaceName">,
): string | undefined {
  const boot = interfaces.find(({ name }) => name === bootInterfaceName);
  return [...(boot ? [boot] : []), ...interfaces].flatMap(({ addresses }) => addresses)[0]?.ip;
}

function reportRemoval(
  task: MachineTask,
  { tracker, isGone, isLeft, now }: ReportInput,
): MachineReport[] {
  const progress = tracker.find(task.name);
  if (progress === undefined || isGone(task.name)) return [];
  const remark = "The spec does not want it any more";
  const address = task.known?.entry?.address;
  const report = reportProgress(progress, { isWanted: false, address, remark, now });
  if (!isLeft(task)) return [report];
  const { message = "" } = report.entry;
  const entry = { ...report.entry, message: `${LEFT_MESSAGE}. ${message}` };
  return [{ ...report, entry, problems: [], isKept: true }];
}

const LEFT_MESSAGE = "What exists of it stays in the cloud, because deletionPolicy is Retain";

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
  const { name, identity, hostId: host, known, goal } = task;
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
  const planned = isGoing ? "Removing" : plan.state;
  // A complete machine stays complete.
  const state = isBlocked && planned !== "Ready" ? "Blocked" : planned;
  // A cloud that does not answer does not make a machine forgotten.
  const machineId =
    plan.machine?.id ?? (plan.state === "Unknown" ? known?.entry?.machineId : undefined);
  const first = ofMachine.slice(0, 1).map((one) => one.message);
  const isRetried = ofMachine[0]?.kind === "retry" && progress.retryMs > now.monotonicMs;
  const message =
    problems.length === 0
      ? (remark ?? describeWait(progress, isWorking, now))
      : [...first, ...differences].join(". ");
  return {
    entry: dropAbsent({ name, role, index, host, machineId, address, state, message }),
    isWanted,
    problems,
    parts: plan.parts,
    ...(plan.machine && { power: plan.machine.power }),
    ...(isRetried && { retryAt: toTime(progress.retryMs, now) }),
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

/** A machine with which nothing is done. */
interface IdleSubject extends Pick<
  KnownMachine,
  "entry" | "hostId" | "index" | "machine" | "name" | "role"
> {
  /** Whether it was never begun. @default {false} */
  readonly isPlanned?: boolean;
}

/**
 * Reports on a machine with which nothing is done. The spec wants it.
 *
 * @param message Why
 * @param differs Whether it has other addresses than the spec gives it
 */
export function reportIdle(
  { name, role, index, hostId: host, machine, entry, isPlanned = false }: IdleSubject,
  message: string,
  differs = false,
): MachineReport {
  const unseen = isPlanned ? "Absent" : "Unknown";
  const state = machine === undefined ? unseen : machine.isComplete ? "Ready" : "Unfinished";
  const { reason } = EVENT_WORDS.addressesDiffer;
  const machineId = machine?.id ?? entry?.machineId;
  const { address } = entry ?? {};
  return {
    entry: dropAbsent({ name, role, index, host, machineId, address, state, message }),
    isWanted: true,
    problems: differs && state === "Ready" ? [{ reason, kind: "notice", message }] : [],
    parts: [],
  };
}

type Entry = MachineReport["entry"];

/** An entry without the fields that have no value. */
function dropAbsent({
  host,
  machineId,
  address,
  message,
  ...rest
}: Omit<Entry, "address" | "host" | "machineId" | "message"> & {
  readonly [Key in "address" | "host" | "machineId" | "message"]: string | undefined;
}): Entry {
  return {
    ...rest,
    ...(host !== undefined && { host }),
    ...(machineId !== undefined && { machineId }),
    ...(address !== undefined && { address }),
    ...(message !== undefined && { message: toMessage(message) }),
  };
}
