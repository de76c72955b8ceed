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
 * @returns `undefined` if the text is not a boolean
 */
export function parseBool(text: string): boolean | undefined {
  return BOOLS.get(text);
}
