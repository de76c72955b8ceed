/**
 * Puts together what the status and the pages say about the machines of a Vino. Pure.
 * @module
 */
import { type MachinePool, toMachineName } from "../../../cloud/capabilities/machines.ts";
import type { Addresses } from "../addresses/types.ts";
import { type ShownHost, toShownState } from "../hosts/host_facts.ts";
import { toHostName } from "../hosts/names.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { HostState } from "../resource/vino_machine.ts";
import { describeAlike } from "./alike.ts";
import { toForm } from "./machine_status.ts";
import type { MachineReport, MachinesReport } from "./outcome.ts";
import type { ProgressTracker } from "../machines/steps/progress_tracker.ts";
import type { MachineTask } from "../machines/steps/tasks.ts";
import { findAddress, reportAbsent, reportIdle, reportProgress } from "./entries.ts";
import { compareKnown } from "../placement/known.ts";
import { describeOtherPool } from "../placement/place_messages.ts";
import type { RemovalDecision } from "../machines/removal/decision.ts";
import type { Moment } from "../machines/removal/limit.ts";
import { describeIdlePools } from "../machines/removal/lost_pool.ts";
import type { Snapshot } from "../placement/snapshot.ts";
import type { IdleMachine } from "../machines/steps/tasks.ts";
import type { VinoRemoval } from "../resource/vino.ts";
import type { Role } from "../placement/roles.ts";

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
  const { snapshot, idle, decision, addresses, hosts } = input;
  const { placement, owner } = snapshot;
  const names = new Set(placement.wanted.map((one) => toMachineName({ owner, ...one })));
  const shown = new Map(input.shown.map((one) => [one.name, one]));
  const nameOf = new Map(snapshot.view.hosts.map(({ id, name }) => [id, name]));
  const poolOf = toPools(input);
  const machines: MachineReport[] = [
    ...input.wanted.flatMap((task) => reportWanted(task, input)),
    ...idle.map(({ name, placed, why, differs = false }) =>
      placed.known === undefined
        ? reportAbsent(name, placed, why)
        : reportIdle(placed.known, true, why, differs),
    ),
    ...decision.reports,
    ...input.removals.flatMap((task) => reportRemoval(task, input)),
  ];
  const { contraction } = decision;
  return {
    wantedCount: placement.wantedCount,
    machines: machines
      .map((one) => addHost(one, findState(one, owner.name, { hosts, shown })))
      .map((one) => addDisplayName(one, nameOf))
      .map((one) => addSilence(one, poolOf.get(one.entry.name), snapshot.view.pools))
      .toSorted((a, b) => compareKnown(a.entry, b.entry)),
    shortages: placement.shortages,
    ...describeProblems(addresses, names),
    notices: [
      ...placement.notices,
      ...addresses.notices,
      ...describeIdlePools(input.gonePools, snapshot.view.pools, machines),
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

function addDisplayName(report: MachineReport, nameOf: ReadonlyMap<string, string>): MachineReport {
  const hostDisplayName = nameOf.get(report.entry.host ?? "");
  if (hostDisplayName === undefined) return report;
  return { ...report, entry: { ...report.entry, hostDisplayName } };
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
function addSilence(
  report: MachineReport,
  poolId: string | undefined,
  pools: readonly MachinePool[],
): MachineReport {
  if (report.entry.state !== "Unknown") return report;
  const answers =
    poolId === undefined
      ? pools.length > 0 && pools.every(({ isComplete }) => isComplete)
      : pools.some(({ id, isComplete }) => id === poolId && isComplete);
  return answers ? report : { ...report, isSilent: true };
}

function reportWanted(
  task: MachineTask,
  { snapshot, tracker, roles, addresses, hosts, now }: ReportInput,
): MachineReport[] {
  const progress = tracker.find(task.name);
  const node = roles?.get(task.identity.role)?.node;
  if (progress === undefined || node === undefined) return [];
  const address = findAddress(addresses.machines.get(task.name) ?? [], node);
  const host = hosts.get(task.name);
  const { differences, error, notices = [] } = host ?? {};
  const broken = error && `metal3 reports an error of its BareMetalHost: ${error}`;
  const remark = host?.message ?? broken ?? notices[0];
  const place = task.known && describeOtherPool(task.known, snapshot);
  const isWorking = tracker.isWorking(task);
  const options = { isWanted: true, address, remark, differences, place, isWorking, now };
  return [{ ...reportProgress(progress, options), form: toForm(task) }];
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

/** How far the host of a machine is: what this round did with it, otherwise what is shown. */
function findState(
  { entry, isWanted }: MachineReport,
  vino: string,
  { hosts, shown }: Pick<ReportInput, "hosts"> & { readonly shown: ReadonlyMap<string, ShownHost> },
): HostState | undefined {
  const outcome = hosts.get(entry.name);
  if (outcome !== undefined) return outcome.state;
  const host = shown.get(toHostName({ vino, ...entry }));
  return host && toShownState(host, isWanted);
}

function addHost(report: MachineReport, state: HostState | undefined): MachineReport {
  if (state === undefined || state === "Gone") return report;
  return { ...report, entry: { ...report.entry, bareMetalHost: state } };
}
