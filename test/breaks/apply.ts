/**
 * Applies deliberate breaks to texts.
 * @module
 */
import type { Edit } from "./break.ts";

/**
 * The text with the edit.
 *
 * @throws {Error} when what is to be replaced does not occur exactly once
 */
export function applyEdit(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file} has ${text.split(from).length - 1} times, not once: ${from}`);
  }
  return before + to + after;
}
