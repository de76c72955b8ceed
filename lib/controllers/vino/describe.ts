/**
 * Describes Vinos for the debug pages. Pure.
 * @module
 */
import type { MachinePart } from "../../cloud/capabilities/machines.ts";
import {
  type LastReconcile,
  type ReconcileOutcome,
  toLastReconcile,
} from "../../engine/workers.ts";
import { type BareMetalHost, VINO_UID } from "../../kube/kinds/bare_metal_host.ts";
import type { Condition } from "../kinds/conditions.ts";
import { capitalize, describeConsumer } from "../kinds/problems.ts";
import { HOST_CLUSTER_NAME } from "../words.ts";
import { toHostName } from "./hosts/names.ts";
import type { VinoState } from "./metrics.ts";
import type { Placement } from "./placement/placement.ts";
import type { Vino, VinoMachine } from "./resource/vino.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import type { MachineReport, Outcome } from "./status/outcome.ts";

/** A machine on the pages. */
interface MachineView extends Omit<VinoMachine, "record"> {
  /** Whether the spec wants it. */
  readonly isWanted: boolean;
  /** Wanted beside actual. */
  readonly parts: readonly MachinePart[];
  /** As in the report. */
  readonly power?: MachineReport["power"];
  /** As in the report. */
  readonly retryAt?: string;
  /** Name of its BareMetalHost. Absent: it has none. */
  readonly hostName?: string;
  /** What metal3 says about that: `available`. */
  readonly provisioning?: string;
  /** What uses it: `Metal3Machine tenants/worker-1`. */
  readonly consumer?: string;
  /** Name of the SIPCluster that has it. */
  readonly cluster?: string;
}

/** What the debug pages show about a Vino. Times are ISO 8601. */
export interface VinoReport {
  readonly state: VinoState;
  readonly wanted: number;
  readonly ready: number;
  readonly machines: readonly MachineView[];
  readonly shortages: Placement["shortages"];
  readonly conditions: readonly Pick<Condition, "message" | "reason" | "status" | "type">[];
  readonly lastReconcile: LastReconcile | null;
}

/** What is known about a Vino besides itself. */
interface VinoFacts {
  /** Absent: this process has not looked at it yet. */
  readonly last: Outcome | undefined;
  readonly outcome: ReconcileOutcome | undefined;
  /** Its BareMetalHost of a name. */
  findHost(name: string): BareMetalHost | undefined;
}

/** Describes a Vino. */
export function describeVino(vino: Vino, { last, outcome, findHost }: VinoFacts): VinoReport {
  const { conditions = [], counts } = vino.status ?? {};
  const report = last && "report" in last ? last.report : undefined;
  const known = report
    ? report.machines.map(({ entry, problems: _told, ...rest }) => ({ ...entry, ...rest }))
    : (vino.status?.machines ?? []).map(({ record: _hidden, ...entry }) => ({
        ...entry,
        isWanted: true,
        parts: [],
      }));
  const machines = known.map(({ message, ...machine }): MachineView => {
    const hostName = toHostName({ vino: vino.metadata.name, ...machine });
    const said = message === undefined ? {} : { message: capitalize(message) };
    return { ...machine, ...said, ...describeHost(findHost(hostName), vino) };
  });
  return {
    state: judgeState(vino, outcome),
    wanted: report?.wantedCount ?? counts?.wanted ?? 0,
    ready: machines.filter(({ isWanted, state }) => isWanted && state === "Ready").length,
    machines,
    shortages: report?.shortages ?? [],
    conditions: conditions.map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
    })),
    lastReconcile: toLastReconcile(outcome),
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
  return WAITING.has(ready.reason) ? "waiting" : "failing";
}

/** Something else must happen first, and nothing is wrong with the Vino. */
const WAITING: ReadonlySet<string> = new Set(
  [CONDITION_WORDS.Ready.silent, CONDITION_WORDS.Ready.hostsInUse].map(({ reason }) => reason),
);

/** A host of another Vino, or of another program, is not shown. */
function describeHost(
  host: BareMetalHost | undefined,
  { metadata: { uid } }: Vino,
): Pick<MachineView, "hostName" | "provisioning" | "consumer" | "cluster"> {
  const { labels = {}, name } = host?.metadata ?? { name: "" };
  if (host === undefined || labels[VINO_UID] !== uid) return {};
  const state = host.status?.provisioning?.state;
  const { consumerRef } = host.spec ?? {};
  const cluster = labels[HOST_CLUSTER_NAME];
  return {
    hostName: name,
    ...(state !== undefined && { provisioning: state }),
    ...(consumerRef && { consumer: describeConsumer(consumerRef) }),
    ...(cluster !== undefined && { cluster }),
  };
}
