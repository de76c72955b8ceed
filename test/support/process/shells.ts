/**
 * Shells that a machine may lack.
 * @module
 */
import { saySkipped } from "../skip.ts";

/** Whether a shell is not installed, which is said; in CI it must be. */
export function lacksShell(name: string): boolean {
  if (Bun.which(name) !== null) return false;
  saySkipped(`completions of ${name}: there is no ${name}`);
  return true;
}
