/**
 * How wide a text in a terminal may be.
 * @module
 */
import type { CommandContext } from "./command.ts";

/** Help texts are no wider, however wide the terminal is. */
export const HELP_WIDTH = 80;

/**
 * The width of the terminal in characters: `COLUMNS`, if that is set, else what the terminal says. A pipe or a file has
 * no width: each line stays whole, for `grep`.
 *
 * @returns `Infinity` without a limit
 */
export function findWidth({ env, columns }: Pick<CommandContext, "env" | "columns">): number {
  const set = env["COLUMNS"] ?? "";
  if (/^[1-9]\d{0,4}$/.test(set)) return Number(set);
  // Some terminals say 0 when they do not know.
  return columns?.() || Infinity;
}
