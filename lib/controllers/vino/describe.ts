/**
 * Describes Vinos for the debug pages. Pure.
 * @module
 */
import type { MachineHost, MachinePart } from "../../cloud/capabilities/machines.ts";
import type { ReconcileOutcome } from "../../engine/workers.ts";
import type { Condition } from "../kinds/conditions.ts";
import type { VinoState } from "./metrics.ts";
import type { Placement } from "./placement/placement.ts";
import type { Survey } from "./placement/survey.ts";
import type { Vino, VinoMachine } from "./resource/vino.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import type { Outcome } from "./status/outcome.ts";

/** A machine on the pages. */
export interface MachineView extends Omit<VinoMachine, "record"> {
  /** Whether the spec wants it. */
  readonly isWanted: boolean;
  /** Wanted beside actual. */
  readonly parts: readonly MachinePart[];
}

/** A host of the cloud with the machines of a Vino. */
export interface HostView extends Pick<MachineHost, "id" | "isEnabled" | "name"> {
  readonly pool: string;
  /** Names of the machines that start here. */
  readonly machines: readonly string[];
}

/** What the debug pages show about a Vino. Times are ISO 8601. */
export interface VinoReport {
  readonly state: VinoState;
  readonly wanted: number;
  readonly ready: number;
  readonly machines: readonly MachineView[];
  /** Hosts that the cloud shows, by name. Empty before the first look, as on a standby. */
  readonly hosts: readonly HostView[];
  readonly shortages: Placement["shortages"];
  readonly conditions: readonly Pick<Condition, "message" | "reason" | "status" | "type">[];
  readonly lastReconcile: {
    readonly at: string;
    readonly outcome: string;
    readonly error?: string;
  } | null;
}

/** What is known about a Vino besides itself. */
export interface VinoFacts {
  /** Absent: this process has not looked at it yet. */
  readonly last:
    | { readonly outcome: Outcome; readonly keeper: { readonly survey: Survey | undefined } }
    | undefined;
  readonly outcome: ReconcileOutcome | undefined;
}

/** Describes a Vino. */
export function describeVino(vino: Vino, { last, outcome }: VinoFacts): VinoReport {
  const { conditions = [], counts } = vino.status ?? {};
  const report = last && "report" in last.outcome ? last.outcome.report : undefined;
  const machines = report
    ? report.machines.map(({ entry, isWanted, parts }) => ({ ...entry, isWanted, parts }))
    : (vino.status?.machines ?? []).map(({ record: _hidden, ...entry }) => ({
        ...entry,
        isWanted: true,
        parts: [],
      }));
  return {
    state: judgeState(vino, outcome),
    wanted: report?.wantedCount ?? counts?.wanted ?? 0,
    ready: machines.filter(({ isWanted, state }) => isWanted && state === "Ready").length,
    machines,
    hosts: toHostViews(last?.keeper.survey, machines),
    shortages: report?.shortages ?? [],
    conditions: conditions.map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
    })),
    lastReconcile: outcome === undefined ? null : toLastReconcile(outcome),
  };
}

/** How a Vino stands. */
export function judgeState(
  { metadata, status }: Vino,
  outcome: ReconcileOutcome | undefined,
): VinoState {
  if (metadata.deletionTimestamp !== undefined) return "deleting";
  if (outcome?.error !== undefined) return "failing";
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || status?.observedGeneration !== metadata.generation) return "working";
  if (ready.status === "True") return "ready";
  if (ready.reason === CONDITION_WORDS.Ready.waiting.reason) return "working";
  return ready.reason === CONDITION_WORDS.Ready.silent.reason ? "waiting" : "failing";
}

function toHostViews(survey: Survey | undefined, machines: readonly MachineView[]): HostView[] {
  const { hosts = [], pools = [] } = survey?.view ?? {};
  const poolNames = new Map(pools.map(({ id, name }) => [id, name]));
  const here = Map.groupBy(machines, ({ host }) => host);
  return hosts
    .map(({ id, name, poolId, isEnabled }) => ({
      id,
      name,
      pool: poolNames.get(poolId) ?? poolId,
      isEnabled,
      machines: (here.get(id) ?? []).map((one) => one.name),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function toLastReconcile({ at, outcome, error }: ReconcileOutcome): VinoReport["lastReconcile"] {
  const time = new Date(at).toISOString();
  return { at: time, outcome, ...(error !== undefined && { error }) };
}
