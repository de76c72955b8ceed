/**
 * What a Vino decides about each of its machines, from which the work on the machine follows.
 * @module
 */
import type { KnownMachine } from "../placement/known.ts";
import type { Snapshot } from "../placement/snapshot.ts";
import type { Role } from "../resource/role_form.ts";
import type { Vino, VinoSpec } from "../resource/vino.ts";
import type { MachineKey } from "../resource/vino_machine.ts";
import type { IdleMachine, MachineTask } from "./steps/tasks.ts";

/** The Vino as a reconcile sees it. */
export interface ReconcileInput {
  readonly vino: Vino;
  /** Absent: it wants no machines any more. */
  readonly desired?: { readonly spec: VinoSpec; readonly roles: ReadonlyMap<string, Role> };
  /** Whether machines that are too many are deleted. */
  readonly deletes: boolean;
}

/** A machine that must exist, and on which there may be something to do. */
interface WantedAssignment {
  readonly kind: "wanted";
  readonly task: MachineTask;
}

/** A machine that must exist, and cannot be worked on now. */
type IdleAssignment = IdleMachine & { readonly kind: "idle" };

/** A machine that the spec does not want. */
export interface SurplusAssignment {
  readonly kind: "surplus";
  readonly machine: KnownMachine;
  /** What is to be done as soon as its host is gone. Absent: it stays. */
  readonly task?: MachineTask;
  /** Why not even its host may go; a sentence without a full stop. */
  readonly heldBy?: string;
  /** Why it stays although its host goes; a sentence without a full stop. */
  readonly keptBecause?: string;
}

/** A machine of which only addresses are known. */
interface ForgottenAssignment {
  readonly kind: "forgotten";
  readonly task: MachineTask;
}

/** What a Vino decided about one of its machines. */
export type Assignment =
  WantedAssignment | IdleAssignment | SurplusAssignment | ForgottenAssignment;

/** Which machine an assignment is about. */
export function toMachineKey(assignment: Assignment): MachineKey & { readonly name: string } {
  switch (assignment.kind) {
    case "idle": {
      const { name, placed } = assignment;
      return { name, role: placed.role, index: placed.index };
    }
    case "surplus": {
      const { name, role, index } = assignment.machine;
      return { name, role, index };
    }
    default: {
      const { name, identity } = assignment.task;
      return { name, role: identity.role, index: identity.index };
    }
  }
}

/** A machine, and what was decided about it. */
export interface AssignedMachine {
  /** Its Vino, as the decision was made from it. */
  readonly input: ReconcileInput;
  readonly snapshot: Snapshot;
  readonly assignment: Assignment;
  /** Whether steps may be made. If not, its host, its object and its Events follow what is known. */
  readonly mayStep: boolean;
}
