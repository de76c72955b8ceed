/**
 * Reads JSON that others wrote, and that may be anything.
 * @module
 */

/** An object whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields: neither a list nor `null`. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads JSON. @returns `undefined` if the text is none */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an object in JSON. @returns `undefined` if the text is none */
export function parseFields(text: string): Fields | undefined {
  const value = parseJson(text);
  return isFields(value) ? value : undefined;
}
