/**
 * The last reconcile of an object, as the debug pages show it. Pure.
 * @module
 */
import type { ReconcileOutcome } from "./workers.ts";

/** A reconcile that ended. */
export interface LastReconcile {
  /** ISO 8601. */
  readonly at: string;
  readonly outcome: string;
  /** In one line. Absent after a success. */
  readonly error?: string;
}

/** Describes the last reconcile. `null`: there was none in this process. */
export function toLastReconcile(last: ReconcileOutcome | undefined): LastReconcile | null {
  if (last === undefined) return null;
  const { at, outcome, error } = last;
  return { at: new Date(at).toISOString(), outcome, ...(error !== undefined && { error }) };
}
