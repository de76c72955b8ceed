/**
 * What is wrong with a spec, in words.
 * @module
 */

/** What is wrong with a spec, and where. */
export interface SpecProblem {
  /** `spec.services.jumpHost[0].nodePort` */
  readonly path: string;
  /** What must be; no full stop. It may show a part of the value: but nothing of a password. */
  readonly message: string;
}

/** Messages are kept: an object has a limited size. */
const NAMED_MAX = 20;

/** All problems in one text, for a condition. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  const more = problems.length - NAMED_MAX;
  const named = problems.slice(0, NAMED_MAX).map(({ path, message }) => `${path}: ${message}`);
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}
