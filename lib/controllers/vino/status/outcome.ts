/**
 * What a reconcile of a Vino came to.
 * @module
 */
import type { MachinePowerState } from "../../../cloud/capabilities/machine_power.ts";
import type { MachinePart, MachineProblem } from "../../../cloud/capabilities/machines.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { SpecProblem } from "../../kinds/problems.ts";
import type { Shortage } from "../placement/shortages.ts";
import type { VinoRemoval, VinoSpec } from "../resource/vino.ts";
import type { MachineEntry, MachineFormSpec } from "../resource/vino_machine.ts";

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
  /** When Landfall tries again after a failure. Absent: it is not known, or another attempt runs. */
  readonly retryAt?: string;
  readonly parts: readonly MachinePart[];
  /** As the last look or inventory showed it. Absent: it does not exist, or nothing shows it. */
  readonly power?: MachinePowerState;
}

/** Why machines that the spec does not want stay for now. */
export interface ContractionReport {
  readonly kind: "inUse" | "fleetLimit";
  /** A sentence without a full stop. */
  readonly message: string;
}

/** What the machines of a Vino have. */
export interface MachinesReport {
  /** How many machines the spec wants. */
  readonly wantedCount: number;
  /** By role and index. */
  readonly machines: readonly MachineReport[];
  readonly shortages: readonly Shortage[];
  /** Networks without a free address, and what else prevents addresses; sentences without a full stop. */
  readonly addressProblems: readonly string[];
  /** Machines that have other addresses than the spec gives them; sentences without a full stop. @default {none} */
  readonly addressDifferences?: readonly string[];
  /** What is worth knowing; sentences without a full stop. */
  readonly notices: readonly string[];
  /** How far the hosts of complete machines are. */
  readonly hosts: readonly HostOutcome[];
  readonly contraction?: ContractionReport;
  /** Machines that were removed a short time ago. */
  readonly removals: readonly VinoRemoval[];
}

/** What stops the work on all machines of a Vino until it ends. */
export type Obstacle = "forbidden" | "objectRefused" | "poolsRefused" | "silent";

/** What a reconcile came to. */
export type Outcome =
  | { readonly kind: "invalid"; readonly problems: readonly SpecProblem[] }
  | {
      readonly kind: "incomplete";
      readonly spec: VinoSpec;
      readonly missing: readonly SpecProblem[];
    }
  | {
      readonly kind: "refused";
      readonly spec: VinoSpec;
      readonly why: "noCapability" | "noPool" | "tooMany" | Obstacle;
      /** A sentence without a full stop. */
      readonly message: string;
    }
  | { readonly kind: "served"; readonly spec: VinoSpec; readonly report: MachinesReport }
  | {
      readonly kind: "deleting";
      /** Absent: the cloud does not say, or Kubernetes refuses something. */
      readonly report?: MachinesReport;
      /** Whether its machines stay in the cloud. @default {false} */
      readonly keepsMachines?: boolean;
      /** Whether the report is made without an answer of the cloud. @default {false} */
      readonly isWithoutCloud?: boolean;
      /** Why there is no report. @default {"silent"} */
      readonly why?: Obstacle;
      /** Why it cannot go on by itself, in a sentence without a full stop. */
      readonly obstacle?: string;
    };
