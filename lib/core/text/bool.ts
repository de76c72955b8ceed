/**
 * Booleans as people write them in flags and variables: the forms of Go's `strconv.ParseBool`.
 * @module
 */

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/**
 * Reads a boolean.
 *
 * @returns `undefined` when the text is none
 */
export function parseBool(text: string): boolean | undefined {
  return BOOLS.get(text);
}
