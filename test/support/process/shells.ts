/**
 * Shells that a machine may lack.
 * @module
 */

/** Whether a shell is not installed, which is said; in CI it must be. */
export function lacksShell(name: string): boolean {
  if (Bun.which(name) !== null) return false;
  if (process.env["CI"] !== undefined) throw new Error(`Cannot test completions: no ${name}`);
  process.stderr.write(`\n*** SKIPPED: completions of ${name}: there is no ${name} ***\n\n`);
  return true;
}
