/**
 * Describes Vinos for the debug pages. Pure.
 * @module
 */
import {
  type LastReconcile,
  type ReconcileOutcome,
  toLastReconcile,
} from "../../engine/workers.ts";
import { type BareMetalHost, VINO_UID } from "../../kube/kinds/bare_metal_host.ts";
import type { Condition } from "../kinds/conditions.ts";
import { capitalize, describeConsumer } from "../kinds/problems.ts";
import { HOST_CLUSTER_NAME } from "../words.ts";
import type { VinoState } from "./metrics.ts";
import { compareKnown } from "./placement/known.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import { isWantedBy } from "./status/machine_status.ts";
import type { Vino } from "./resource/vino.ts";
import {
  type MachineEntry,
  toEntry,
  type VinoMachine,
  type VinoMachineStatus,
} from "./resource/vino_machine.ts";

/** A machine on the pages. */
interface MachineView extends Omit<MachineEntry, "record"> {
  /** Whether the spec wants it. */
  readonly isWanted: boolean;
  /** Those that differ: wanted beside actual. */
  readonly parts: NonNullable<VinoMachineStatus["differences"]>;
  readonly power?: VinoMachineStatus["power"];
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
  readonly conditions: readonly Pick<Condition, "message" | "reason" | "status" | "type">[];
  readonly lastReconcile: LastReconcile | null;
}

/** What is known about a Vino besides itself. */
interface VinoFacts {
  readonly machines: readonly VinoMachine[];
  readonly outcome: ReconcileOutcome | undefined;
  /** Its BareMetalHost of a name. */
  findHost(name: string): BareMetalHost | undefined;
}

/** Describes a Vino. */
export function describeVino(vino: Vino, { machines, outcome, findHost }: VinoFacts): VinoReport {
  const { conditions = [], counts } = vino.status ?? {};
  return {
    state: judgeState(vino, outcome),
    wanted: counts?.wanted ?? 0,
    ready: counts?.ready ?? 0,
    machines: machines
      .flatMap(({ metadata, spec, status = {} }): MachineView[] => {
        if (spec === undefined) return [];
        const { record: _hidden, message, ...entry } = toEntry({ status }, spec);
        const { differences: parts = [], power } = status;
        return [
          {
            ...entry,
            ...(message !== undefined && { message: capitalize(message) }),
            isWanted: isWantedBy(status),
            parts,
            ...(power !== undefined && { power }),
            ...describeHost(findHost(metadata.name), vino),
          },
        ];
      })
      .toSorted(compareKnown),
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
