/**
 * Machines of a Vino, as their objects say how they are.
 * @module
 */
import type { MachineProblem } from "../../../lib/cloud/capabilities/machines.ts";
import type { MachineEntry } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import {
  type MachineReport,
  toStatus,
} from "../../../lib/controllers/vino/status/machine_status.ts";
import type { MachinesSummary } from "../../../lib/controllers/vino/status/status.ts";
import { toEntry, toObject } from "./known.ts";

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

/** What the objects of these machines say. */
export function toSummary(
  machines: readonly MachineReport[],
  change: Partial<MachinesSummary> = {},
): MachinesSummary {
  return {
    wantedCount: machines.filter(({ isWanted }) => isWanted).length,
    machines: machines.map((one) => ({ ...toObject(one.entry), status: toStatus(one, {}, 0) })),
    shortages: [],
    addressProblems: [],
    notices: [],
    removals: [],
    ...change,
  };
}
