/**
 * The shells that `landfall completion` knows, and what they complete.
 * @module
 */
import type { FlagSpec } from "../flags/spec.ts";

/** In the order of the help. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of them. */
export type Shell = (typeof SHELLS)[number];

/** A command as shells complete it. */
export interface Completed {
  readonly name: string;
  readonly summary: string;
  /** Values of its argument. */
  readonly args: readonly string[];
  readonly flags: readonly FlagSpec[];
}

/** The values to offer for a flag; empty for a switch, a file and anything free. */
export function listValues({ choices, suggestions = [] }: FlagSpec): readonly string[] {
  return choices ?? suggestions;
}

/** The forms in which a flag is typed: `--output`, `-o`. */
export function listForms({ name, short }: FlagSpec): string[] {
  if (short === undefined) return [`--${name}`];
  return short === name ? [`-${short}`] : [`--${name}`, `-${short}`];
}
