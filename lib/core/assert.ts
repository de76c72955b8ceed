/**
 * Broken invariants: a bug in Landfall, never bad input.
 * @module
 */

/** A broken invariant. No code catches it: the process ends with exit code 1 and its supervisor restarts it. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/**
 * Ends in an {@linkcode AssertionError} when `condition` is false.
 *
 * @param condition What must hold here if Landfall is right
 * @param message What was expected, as `Cannot <do> "<what>": <current state>`
 * @throws {AssertionError} when the condition is false
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}
