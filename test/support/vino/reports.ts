/**
 * Reports on machines of a Vino.
 * @module
 */
import type { MachineProblem } from "../../../lib/cloud/capabilities/machines.ts";
import type { MachineEntry } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import type {
  MachineReport,
  MachinesReport,
} from "../../../lib/controllers/vino/status/outcome.ts";
import { toEntry } from "./known.ts";

/** A machine `worker-<index>` that is wanted and complete. */
export function toReport(
  index: number,
  entry: Partial<MachineEntry> = {},
  change: Partial<MachineReport> = {},
): MachineReport {
  const state = entry.state ?? "Ready";
  const host = state === "Ready" ? ({ bareMetalHost: "Published" } as const) : {};
  const base = toEntry("worker", index, { machineId: `vm-${index}`, ...host, ...entry });
  return { entry: base, isWanted: true, problems: [], parts: [], ...change };
}

/** A problem of a machine. */
export function toProblem(kind: MachineProblem["kind"], message: string): MachineProblem {
  return { reason: "No", message, kind };
}

/** Machines, each with its host. */
export function toReports(
  machines: readonly MachineReport[],
  change: Partial<MachinesReport> = {},
): MachinesReport {
  const ready = machines.filter(({ isWanted, entry }) => isWanted && entry.state === "Ready");
  return {
    wantedCount: machines.filter(({ isWanted }) => isWanted).length,
    machines,
    shortages: [],
    addressProblems: [],
    notices: [],
    removals: [],
    hosts: ready.map(({ entry }) => ({ name: entry.name, state: "Published", notices: [] })),
    ...change,
  };
}
