/**
 * Paths without slashes at their ends.
 * @module
 */

/** A text without slashes at its end. A regular expression (`/+$`) takes quadratic time: seconds for long rows. */
export function trimSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}
