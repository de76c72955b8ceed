/**
 * What is done about tests that this machine cannot run.
 * @module
 */

/**
 * Says loudly that tests are skipped, and why. Nothing is skipped in CI.
 *
 * @param what Begins with the tests: `tests with a real kubectl: there is none`
 * @throws Error when `CI` is set
 */
export function saySkipped(what: string, cause?: unknown): void {
  if (process.env["CI"]) throw new Error(`Cannot run ${what}`, { cause });
  process.stderr.write(`\n*** SKIPPED: ${what} ***\n\n`);
}
