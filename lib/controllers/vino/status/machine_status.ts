/**
 * How one machine stands, and the next spec and status of its VinoMachine. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { MachinePowerState } from "../../../cloud/capabilities/machine_power.ts";
import type {
  MachineOwner,
  MachinePart,
  MachineProblem,
} from "../../../cloud/capabilities/machines.ts";
import { formatTime } from "../../../core/clock.ts";
import { toMessage } from "../../../core/text/printable.ts";
import { type Finding, findCondition, toConditions, toFinding } from "../../kinds/conditions.ts";
import { joinSome } from "../../kinds/problems.ts";
import type { ReasonWord } from "../../kinds/words.ts";
import type { GuestInterface } from "../guest/types.ts";
import { type HostFacts, toShownState } from "../hosts/host_facts.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { Moment } from "../machines/removal/limit.ts";
import { describeWayOut } from "../machines/removal/gone_pools.ts";
import { isDecisionNeeded, type Progress } from "../machines/steps/progress_tracker.ts";
import type { Assignment, MachineTask } from "../machines/steps/tasks.ts";
import type { AssignedMachine } from "../machines/assignment.ts";
import type { KnownMachine } from "../placement/known.ts";
import { describeOtherPool, type Snapshot } from "../placement/snapshot.ts";
import type { VinoNode } from "../resource/vino.ts";
import {
  dropAbsent,
  type HostState,
  type MachineEntry,
  type MachineFormSpec,
  PARTS_MAX,
  type VinoMachine,
  type VinoMachineSpec,
  type VinoMachineStatus,
} from "../resource/vino_machine.ts";
import { MACHINE_CONDITION_WORDS } from "../resource/words.ts";
import { EVENT_WORDS } from "../words.ts";

const { Made, Complete, Published, Differs, Removed } = MACHINE_CONDITION_WORDS;

/** How one machine stands. */
export interface MachineReport {
  /** For its object, without its record. */
  readonly entry: Omit<MachineEntry, "record">;
  /** What the spec makes of it. Absent: as before. */
  readonly form?: MachineFormSpec | undefined;
  /** Whether the spec wants it. */
  readonly isWanted: boolean;
  readonly problems: readonly MachineProblem[];
  /** Whether the spec does not want it, and it stays in the cloud: Landfall is done with it. @default {false} */
  readonly isKept?: boolean;
  /** Whether it is not known whether it exists, because its pool does not answer in full. @default {false} */
  readonly isSilent?: boolean;
  /** When Landfall tries again after a failure. Absent: it is not known, soon, or another attempt runs. */
  readonly retryTime?: string;
  /** What was done with its BareMetalHost. Absent: nothing. */
  readonly outcome?: HostOutcome | undefined;
  readonly parts: readonly MachinePart[];
  /** As the last look or inventory showed it. Absent: it does not exist, or nothing shows it. */
  readonly power?: MachinePowerState;
}

/** What a merge patch says: `null` takes a field away. */
type Change<T> = { readonly [Key in keyof T]?: T[Key] | null };

/** What the spec of the Vino makes of a machine. `undefined`: it goes. */
export function toForm({ goal, start }: MachineTask): MachineFormSpec | undefined {
  if (goal.kind !== "exist") return undefined;
  const { template, cpus, memoryBytes, disks, interfaces } = goal.spec;
  const addressesOf = new Map(start?.interfaces.map(({ mac, addresses }) => [mac, addresses]));
  return {
    template,
    cpus,
    memoryBytes,
    disks,
    interfaces: interfaces.map(({ name, network, mac }) => {
      const addresses = addressesOf.get(mac)?.map(({ ip }) => ip) ?? [];
      return { name, network, mac, ...(addresses.length > 0 && { addresses }) };
    }),
  };
}

/** What was decided about a machine. @param form Absent: as before */
export function toSpec(
  { name: vinoName, uid: vinoUid }: Pick<MachineOwner, "name" | "uid">,
  entry: Pick<MachineEntry, "host" | "hostDisplayName" | "index" | "name" | "role">,
  form: MachineFormSpec | undefined,
  before?: VinoMachineSpec,
): VinoMachineSpec {
  const { hostDisplayName: known, ...kept } = before ?? {};
  const { name: machineName, role, index, host = before?.host } = entry;
  // A cloud that shows no hosts takes no names away.
  const hostDisplayName = entry.hostDisplayName ?? (host === before?.host ? known : undefined);
  const identity = { vinoName, vinoUid, machineName, role, index };
  return dropAbsent({ ...(form ?? kept), ...identity, host, hostDisplayName });
}

/** What of a spec or a status is to be written. `undefined`: nothing */
export function toChange<T extends object>(before: T, after: T): Change<T> | undefined {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([key, value]) => value !== undefined && !isDeepStrictEqual(old.get(key), value),
  );
  const now = new Map<string, unknown>(Object.entries(after));
  const gone = [...old.keys()].filter((key) => now.get(key) === undefined);
  if (changed.length + gone.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])]) as Change<T>;
}

/** The next status. Its record stays as it is. @param nowMs Wall-clock time; only changed conditions have it */
export function toStatus(
  report: MachineReport,
  { status: before = {} }: Pick<VinoMachine, "status">,
  nowMs: number,
): VinoMachineStatus {
  const { entry, isWanted, parts, power } = report;
  const { state, message, machineId, address, bareMetalHost } = entry;
  const isJudged = isWanted && state === "Ready";
  const differences = isJudged ? parts.filter(({ wanted, actual }) => wanted !== actual) : [];
  const order = Object.keys(MACHINE_CONDITION_WORDS);
  const findings = listFindings(report);
  const conditions = toConditions(findings, before.conditions ?? [], { nowMs, order });
  // While another attempt runs, the time of the last one stays: nothing is written only to take it away.
  const { retryTime = isFailed({ conditions }) ? before.retryTime : undefined } = report;
  const { record } = before;
  const shown = differences.length > 0 ? cutParts(differences) : undefined;
  const place = { machineId, address, power, bareMetalHost };
  return dropAbsent({
    conditions,
    state,
    message,
    retryTime,
    ...place,
    differences: shown,
    record,
  });
}

/** Why a person must decide about a machine. `undefined`: none must */
export function findDecision(status: VinoMachineStatus): string | undefined {
  return findTrouble(status, "blocked");
}

/** Why the last attempt to make or change a machine failed. `undefined`: it did not */
export function findFailure(status: VinoMachineStatus): string | undefined {
  return findTrouble(status, "failed");
}

function findTrouble(status: VinoMachineStatus, word: "blocked" | "failed"): string | undefined {
  const [complete, differs] = [Complete, Differs].map((words) => words[word].reason);
  const found = [findCondition(status, "Complete"), findCondition(status, "Differs")];
  return found.find((one) => one !== undefined && [complete, differs].includes(one.reason))
    ?.message;
}

function isFailed(status: VinoMachineStatus): boolean {
  return findFailure(status) !== undefined;
}

/** Whether the Vino wants a machine. @param status Of its object */
export function isWantedBy(status: VinoMachineStatus): boolean {
  const { reason } = findCondition(status, "Removed") ?? Removed.wanted;
  return reason === Removed.wanted.reason;
}

/** The last one says how many more there are. */
function cutParts(parts: readonly MachinePart[]): readonly MachinePart[] {
  if (parts.length <= PARTS_MAX) return parts;
  const shown = parts.slice(0, PARTS_MAX - 1);
  return [...shown, { name: `and ${parts.length - shown.length} more` }];
}

function listFindings(report: MachineReport): Finding<keyof typeof MACHINE_CONDITION_WORDS>[] {
  const { entry, isWanted, isKept = false } = report;
  const { state, machineId, message = state } = entry;
  const made = machineId !== undefined ? "done" : state === "Unknown" ? "silent" : "waiting";
  const completion = judge(report);
  const host = judgeHost(report);
  const difference = judgeDifferences(report);
  const removal = isWanted ? "wanted" : isKept ? "kept" : "removing";
  return [
    toFinding("Made", Made[made], toSentence(Made[made])),
    toFinding("Complete", Complete[completion.word], completion.message),
    toFinding("Published", Published[host.word], host.message ?? toSentence(Published[host.word])),
    toFinding("Differs", Differs[difference.word], difference.message),
    toFinding("Removed", Removed[removal], isWanted ? toSentence(Removed.wanted) : message),
  ];
}

/** Without its full stop. */
function toSentence({ meaning }: ReasonWord): string {
  return meaning.replace(/\.$/, "");
}

/** What of a wanted machine is not as the spec says. A complete one about which a person must decide is not, either. */
function judgeDifferences({ isWanted, entry, problems }: MachineReport): {
  readonly word: keyof typeof Differs;
  readonly message: string;
} {
  const isReady = isWanted && entry.state === "Ready";
  const say = (kind: MachineProblem["kind"]): readonly string[] =>
    problems.filter((one) => one.kind === kind).map(({ message }) => message);
  const decisions = isReady ? say("decision") : [];
  if (decisions.length > 0) return { word: "blocked", message: joinSome(decisions) };
  const failures = isReady ? say("retry") : [];
  if (failures.length > 0) return { word: "failed", message: joinSome(failures) };
  const notices = isWanted ? say("notice") : [];
  if (notices.length === 0) return { word: "none", message: toSentence(Differs.none) };
  const isStopped = problems.every((one) => one.isWaiting === true || one.kind !== "notice");
  return { word: isStopped ? "stop" : "some", message: joinSome(notices) };
}

function judge({ entry, problems, isSilent = false }: MachineReport): {
  readonly word: keyof typeof Complete;
  readonly message: string;
} {
  const { state, message = state } = entry;
  if (state === "Ready") return { word: "done", message: toSentence(Complete.done) };
  const words = { decision: "blocked", retry: "failed" } as const;
  for (const kind of ["decision", "retry"] as const) {
    const found = problems.find((one) => one.kind === kind);
    if (found !== undefined) return { word: words[kind], message: found.message };
  }
  return { word: isSilent ? "silent" : "waiting", message };
}

function judgeHost({ entry: { bareMetalHost }, outcome }: MachineReport): {
  readonly word: keyof typeof Published;
  readonly message: string | undefined;
} {
  const { message, bmcProblem, bmcNotice } = outcome ?? {};
  const word = toHostWord(bareMetalHost);
  if (word !== "done") return { word, message };
  if (bmcProblem !== undefined) return { word: "noCredentials", message: bmcProblem };
  return { word, message: bmcNotice };
}

/** What a person should know about the BareMetalHost of a machine that is as it should be. */
export function findHostNotice(status: VinoMachineStatus): string | undefined {
  const { message = "" } = findCondition(status, "Published") ?? {};
  return message === toSentence(Published.done) ? undefined : message;
}

function toHostWord(state: HostState | undefined): keyof typeof Published {
  switch (state) {
    case "Published":
      return "done";
    case "Refused":
      return "refused";
    case "NameTaken":
      return "nameTaken";
    case "Paused":
    case "Moved":
      return "paused";
    case "InUse":
    case "Removing":
    case "Gone":
      return "leaving";
    case "Publishing":
    case undefined:
      return "waiting";
  }
}

/** What a report is made from. */
interface ReportInput {
  readonly work: AssignedMachine;
  /** Absent: nothing is planned for the machine. */
  readonly progress: Progress | undefined;
  /** What was done with its host. Absent: nothing. */
  readonly outcome: HostOutcome | undefined;
  /** Its host, as it was last seen. */
  readonly host: HostFacts | undefined;
  /** When it is made. */
  readonly now: Moment;
}

/** Reports on a machine. `undefined`: there is nothing to say */
export function reportMachine(input: ReportInput): MachineReport | undefined {
  const report = reportAssignment(input);
  if (report === undefined) return undefined;
  const { outcome, host } = input;
  const { view } = input.work.snapshot;
  const { entry, isWanted } = report;
  const hostDisplayName = view.hosts.find(({ id }) => id === entry.host)?.name;
  const state = outcome?.state ?? (host && toShownState(host, isWanted));
  const bareMetalHost = state === "Gone" ? undefined : state;
  return {
    ...report,
    entry: { ...entry, ...dropAbsent({ hostDisplayName, bareMetalHost }) },
    outcome,
    isSilent: entry.state === "Unknown" && isSilent(input.work),
  };
}

function reportAssignment(input: ReportInput): MachineReport | undefined {
  const { assignment } = input.work;
  const { isWanted, known, task, heldBy } = assignment;
  if (!isWanted && known === undefined) return undefined;
  if (heldBy !== undefined) return reportIdle(assignment, heldBy);
  if (!isWanted) return reportSurplus(assignment, input);
  return task && reportWanted(task, input);
}

/** Whether the pool of a machine does not answer. One that is only not shown yet says nothing about the cloud. */
function isSilent({ assignment, snapshot }: AssignedMachine): boolean {
  const { pools } = snapshot.view;
  const poolId = findPool(assignment, snapshot);
  const asked = poolId === undefined ? pools : pools.filter(({ id }) => id === poolId);
  return asked.length === 0 || !asked.every(({ isComplete }) => isComplete);
}

/** The pool that has a machine, or is to have it. */
function findPool({ isWanted, known, task }: Assignment, { poolId }: Snapshot): string | undefined {
  if (known?.machine !== undefined) return known.machine.poolId;
  if (task?.goal.kind === "exist") return task.goal.spec.poolId;
  return isWanted ? poolId : undefined;
}

function reportWanted(
  task: MachineTask,
  { work, progress, outcome, now }: ReportInput,
): MachineReport | undefined {
  const { input, snapshot, mayStep: isWorking } = work;
  const node = input.desired?.roles.get(task.identity.role)?.node;
  if (progress === undefined || node === undefined) return undefined;
  const { differences, error, notices = [], message } = outcome ?? {};
  const broken = error && `metal3 reports an error of its BareMetalHost: ${error}`;
  const report = reportProgress(progress, {
    isWanted: true,
    address: findAddress(task.start?.interfaces ?? [], node),
    remark: message ?? broken ?? notices[0],
    differences,
    place: task.known && describeOtherPool(task.known, snapshot),
    isWorking,
    now,
  });
  return { ...report, form: toForm(task) };
}

function reportSurplus(
  assignment: Assignment,
  { work, progress, outcome, now }: ReportInput,
): MachineReport | undefined {
  const { known, task, keptBecause } = assignment;
  if (outcome !== undefined && outcome.state !== "Gone") {
    const why = outcome.message ?? `BareMetalHost ${outcome.name} is being deleted`;
    return reportIdle(assignment, why);
  }
  if (keptBecause !== undefined) return { ...reportIdle(assignment, keptBecause), isKept: true };
  if (task === undefined || progress === undefined) return undefined;
  const remark = "The spec does not want it any more";
  const { address } = known?.entry ?? {};
  const report = reportProgress(progress, { isWanted: false, address, remark, now });
  const { desired, deletes } = work.input;
  // A Vino that ends is done with what a person would have to decide about.
  if (desired !== undefined || deletes || !isDecisionNeeded(progress)) return report;
  const { message = "" } = report.entry;
  const entry = { ...report.entry, message: `${LEFT_MESSAGE}. ${message}` };
  return { ...report, entry, problems: [], isKept: true };
}

const LEFT_MESSAGE = "What exists of it stays in the cloud, because deletionPolicy is Retain";

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
  const isRetried =
    ofMachine[0]?.kind === "retry" && progress.retryMs - now.monotonicMs >= RETRY_SHOWN_MS;
  const message =
    problems.length === 0
      ? (remark ?? describeWait(progress, isWorking, now))
      : [...first, ...differences].join(". ");
  const text = message && toMessage(message);
  return {
    entry: dropAbsent({ name, role, index, host, machineId, address, state, message: text }),
    isWanted,
    problems,
    parts: plan.parts,
    ...(plan.machine && { power: plan.machine.power }),
    ...(isRetried && { retryTime: toTime(progress.retryMs, now) }),
  };
}

/** A sooner attempt is not announced: a status must not be written every few seconds for a time alone. */
const RETRY_SHOWN_MS = 30_000;

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

/** Reports on a machine with which nothing is done. @param message Why */
export function reportIdle(assignment: Assignment, message: string): MachineReport {
  const { name, role, index, isWanted, known, differs = false } = assignment;
  const { machine, entry, hostId: host = assignment.hostId } = known ?? {};
  const unseen = known === undefined ? "Absent" : "Unknown";
  const shown = machine?.isComplete === true ? "Ready" : "Unfinished";
  const state: MachineEntry["state"] = machine === undefined ? unseen : shown;
  const { reason } = EVENT_WORDS.addressesDiffer;
  const machineId = machine?.id ?? entry?.machineId;
  const { address } = entry ?? {};
  const text = toMessage(message);
  return {
    entry: dropAbsent({ name, role, index, host, machineId, address, state, message: text }),
    isWanted,
    problems: differs && state === "Ready" ? [{ reason, kind: "notice", message }] : [],
    parts: [],
  };
}
