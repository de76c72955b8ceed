/**
 * Checks bodies of requests as Xen Orchestra does: the limit of their size, their types, and no key beside those that
 * are known.
 * @module
 */
import { toJson } from "../../replies.ts";

/** One key. */
interface BodyField {
  readonly type: "string" | "strings" | "number" | "boolean" | "array" | "object" | "any";
  /** @default {false} */
  readonly isRequired?: boolean;
  /** Whether `null` is taken, too. @default {false} */
  readonly isNullable?: boolean;
  /** Of the entries of a list, or the keys of an object. @default {anything} */
  readonly of?: BodyShape;
}

/** The keys of a body. */
export interface BodyShape {
  readonly [key: string]: BodyField;
}

/** JSON bodies are no larger. */
const BYTES_MAX = 100 * 1024;

/** Reads the JSON of a body, or the answer that refuses it. */
export async function readBody(
  request: Request,
): Promise<{ readonly body: unknown } | { readonly refusal: Response }> {
  const text = await request.text();
  if (Buffer.byteLength(text) > BYTES_MAX) {
    return { refusal: toJson({ error: "request entity too large" }, 500) };
  }
  try {
    return { body: text === "" ? {} : JSON.parse(text) };
  } catch (error) {
    return { refusal: toJson({ error: error instanceof Error ? error.message : "" }, 500) };
  }
}

/** The answer that refuses a body; `undefined` if it is as it must be. */
export function checkBody(body: unknown, shape: BodyShape): Response | undefined {
  const issues: Record<string, object> = {};
  checkObject(body, shape, "body", issues);
  const isRight = Object.keys(issues).length === 0;
  return isRight ? undefined : toJson({ error: issues, data: {} }, 422);
}

function checkObject(
  value: unknown,
  shape: BodyShape,
  path: string,
  issues: Record<string, object>,
): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    issues[path] = { message: "invalid object", value };
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field !== undefined) checkField(inner, field, `${path}.${key}`, issues);
    else {
      const message = `"${key}" is an excess property and therefore is not allowed`;
      issues[`${path}.${key}`] = { message, value: key };
    }
  }
  for (const [key, { isRequired = false }] of Object.entries(shape)) {
    if (isRequired && !Object.hasOwn(value, key)) {
      issues[`${path}.${key}`] = { message: `'${key}' is required` };
    }
  }
}

function checkField(
  value: unknown,
  { type, isNullable = false, of }: BodyField,
  path: string,
  issues: Record<string, object>,
): void {
  if (type === "any" || (isNullable && value === null)) return;
  if (type === "strings") {
    // Its path has no name of the body, and one text does for a list.
    const name = path.slice(path.indexOf(".") + 1);
    for (const [index, entry] of [value].flat().entries()) {
      if (typeof entry === "string") continue;
      issues[`${name}.$${index}`] = { message: "invalid string value", value: entry };
    }
    return;
  }
  const actual = Array.isArray(value) ? "array" : typeof value;
  // A number may be sent as text.
  if (type === "number" && actual === "string" && Number.isFinite(Number(value))) return;
  if (actual !== type || value === null) {
    issues[path] = { message: `invalid ${type} value`, value };
    return;
  }
  if (of === undefined) return;
  if (!Array.isArray(value)) return checkObject(value, of, path, issues);
  for (const [index, entry] of value.entries()) {
    checkObject(entry, of, `${path}.$${index}`, issues);
  }
}
