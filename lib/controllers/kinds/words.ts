/**
 * The reasons of conditions, of which each kind has a table.
 * @module
 */

/** One reason of a condition. */
export interface ReasonWord {
  readonly status: "True" | "False";
  readonly reason: string;
  /** When it is written, in one sentence. */
  readonly meaning: string;
}

/** Creates a reason why a condition holds. */
export function yes(reason: string, meaning: string): ReasonWord {
  return { status: "True", reason, meaning };
}

/** Creates a reason why a condition does not hold. */
export function no(reason: string, meaning: string): ReasonWord {
  return { status: "False", reason, meaning };
}
