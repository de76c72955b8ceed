/**
 * Puts together what the status and the pages say about the machines of a Vino. Pure.
 * @module
 */
import { toMachineName } from "../../../cloud/capabilities/machines.ts";
import type { Addresses } from "../addresses/types.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { MachineReport, MachinesReport } from "./outcome.ts";
import type { ProgressTracker, MachineTask } from "../machines/steps/progress_tracker.ts";
import { findAddress, reportAbsent, reportIdle, reportProgress } from "./entries.ts";
import { compareKnown } from "../placement/known.ts";
import type { RemovalDecision } from "../machines/removal/decision.ts";
import type { Snapshot } from "../placement/snapshot.ts";
import type { IdleMachine } from "../machines/steps/tasks.ts";
import type { VinoRemoval } from "../resource/vino.ts";
import type { Role } from "../placement/roles.ts";

/** What a report is made from. */
export interface ReportInput {
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
  readonly tracker: Pick<ProgressTracker, "find">;
  /** Machines that were removed a short time ago. */
  readonly removed: readonly VinoRemoval[];
  /** Whether a machine is proven gone. */
  readonly isGone: (name: string) => boolean;
}

/** Makes a report. */
export function makeReport(input: ReportInput): MachinesReport {
  const { snapshot, idle, decision, addresses, hosts } = input;
  const { placement, owner } = snapshot;
  const names = new Set(placement.wanted.map((one) => toMachineName({ owner, ...one })));
  const machines: MachineReport[] = [
    ...input.wanted.flatMap((task) => reportWanted(task, input)),
    ...idle.map(({ name, placed, why }) =>
      placed.known === undefined
        ? reportAbsent(name, placed, why)
        : reportIdle(placed.known, true, why),
    ),
    ...decision.reports,
    ...input.removals.flatMap((task) => reportRemoval(task, input)),
  ];
  const { contraction } = decision;
  return {
    wantedCount: placement.wantedCount,
    machines: machines
      .map((one) => addHost(one, hosts.get(one.entry.name)))
      .toSorted((a, b) => compareKnown(a.entry, b.entry)),
    shortages: placement.shortages,
    addressProblems: [
      ...new Set([...addresses.problems].flatMap(([name, why]) => (names.has(name) ? why : []))),
    ],
    notices: [...placement.notices, ...addresses.notices],
    hosts: input.wanted.flatMap(({ name }) => hosts.get(name) ?? []),
    ...(contraction && { contraction }),
    removals: input.removed,
  };
}

function reportWanted(
  task: MachineTask,
  { tracker, roles, addresses, hosts }: ReportInput,
): MachineReport[] {
  const progress = tracker.find(task.name);
  const node = roles?.get(task.identity.role)?.node;
  if (progress === undefined || node === undefined) return [];
  const address = findAddress(addresses.machines.get(task.name) ?? [], node);
  const host = hosts.get(task.name);
  const remark = host?.message ?? host?.notices[0];
  return [reportProgress(progress, { isWanted: true, address, remark })];
}

function reportRemoval(task: MachineTask, { tracker, isGone }: ReportInput): MachineReport[] {
  const progress = tracker.find(task.name);
  if (progress === undefined || isGone(task.name)) return [];
  const remark = "The spec does not want it any more";
  return [
    reportProgress(progress, { isWanted: false, address: task.known?.entry?.address, remark }),
  ];
}

function addHost(report: MachineReport, host: HostOutcome | undefined): MachineReport {
  if (host === undefined || host.state === "Gone") return report;
  return { ...report, entry: { ...report.entry, bareMetalHost: host.state } };
}
