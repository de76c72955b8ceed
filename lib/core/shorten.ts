/**
 * Words of others, in a length that a line of a log can bear.
 * @module
 */

/** A text of at most so many characters; what is longer ends in an ellipsis. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
