/**
 * The next status of a Vino. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { toConditions } from "../../kinds/conditions.ts";
import { doesExist } from "../hosts/conditions.ts";
import { MACHINES_MAX, type Vino, type VinoCounts, type VinoStatus } from "../resource/vino.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import { listFindings } from "./findings.ts";
import type { MachinesReport, Outcome } from "./outcome.ts";

/** What the next status depends on. */
interface StatusInput {
  readonly outcome: Outcome;
  /** Wall-clock time. It counts only for conditions whose status changes. */
  readonly nowMs: number;
}

/**
 * Builds the next status.
 *
 * @returns All of it, for a merge patch; `undefined` if it would be the same as now, so that nothing is to be written
 */
export function planStatus(
  { metadata: { generation }, status = {} }: Vino,
  { outcome, nowMs }: StatusInput,
): VinoStatus | undefined {
  const conditions = toConditions(listFindings(outcome), status.conditions ?? [], {
    nowMs,
    generation,
    order: Object.keys(CONDITION_WORDS),
  });
  const report = "report" in outcome ? outcome.report : undefined;
  const next: VinoStatus = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...(report !== undefined && {
      counts: toCounts(report),
      ...toRemovals(report, status),
    }),
  };
  return isDeepStrictEqual(next, status) ? undefined : next;
}

/** Written before the object of a machine goes: a machine that is gone counts as removed. */
function toRemovals(
  { removals }: MachinesReport,
  before: VinoStatus,
): Pick<VinoStatus, "removals"> {
  // A merge patch keeps what it does not name.
  if (removals.length === 0 && before.removals === undefined) return {};
  return { removals: removals.slice(-MACHINES_MAX) };
}

function toCounts({ machines, wantedCount }: MachinesReport): VinoCounts {
  const exists = machines.filter(({ entry }) => entry.machineId !== undefined).length;
  const ready = machines.filter(
    ({ isWanted, entry }) => isWanted && entry.state === "Ready",
  ).length;
  return {
    wanted: wantedCount,
    machines: exists,
    ready,
    unwanted: machines.filter(({ isWanted }) => !isWanted).length,
    published: machines.filter(({ entry }) => doesExist(entry.bareMetalHost)).length,
    summary: `${ready}/${wantedCount}`,
  };
}
