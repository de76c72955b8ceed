/**
 * What the work on a machine follows from: its Vino, and what that decided.
 * @module
 */
import type { Snapshot } from "../placement/snapshot.ts";
import type { Role } from "../resource/role_form.ts";
import type { Vino, VinoSpec } from "../resource/vino.ts";
import type { Assignment } from "./steps/tasks.ts";

/** The Vino as a reconcile sees it. */
export interface ReconcileInput {
  readonly vino: Vino;
  /** Absent: it wants no machines any more. */
  readonly desired?: { readonly spec: VinoSpec; readonly roles: ReadonlyMap<string, Role> };
  /** Whether machines that are too many are deleted. */
  readonly deletes: boolean;
  /** Whether it ends without the cloud, which does not answer. @default {false} */
  readonly isWithoutCloud?: boolean;
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
