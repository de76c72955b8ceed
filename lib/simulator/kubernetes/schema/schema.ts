/**
 * Types of the fields of built-in kinds: what is dropped, what is refused, and how lists merge.
 * @module
 */
import { badRequest } from "../api_error.ts";
import { isArray, isObject, type Json, type JsonObject } from "../patches/json.ts";

/**
 * The type of a field.
 *
 * `text` is left out when empty, `pointer` is text kept when empty; `flag` is left out when false, `switch` is kept;
 * `portOrName` is a whole number or text; `time` is RFC 3339, `microTime` has exactly six digits after the second;
 * `any` is kept as it comes.
 */
export type Field =
  | "text"
  | "pointer"
  | "integer"
  | "flag"
  | "switch"
  | "portOrName"
  | "time"
  | "microTime"
  | "quantity"
  | "any"
  | RecordField
  | ListField
  | MapField;

/** An object with known fields. */
export interface RecordField {
  readonly fields: Readonly<Record<string, Field>>;
}

/** A list; in a strategic merge patch its items merge by `mergeKey`, as a set, or not at all. */
export interface ListField {
  readonly items: Field;
  readonly mergeKey?: string;
  readonly set?: true;
}

/** A map with free keys. */
interface MapField {
  readonly values: Field;
}

/** A record of the given fields. */
export function record(fields: Readonly<Record<string, Field>>): RecordField {
  return { fields };
}

/** A list that is replaced whole. */
export function listOf(items: Field): ListField {
  return { items };
}

/** A list whose items a strategic merge patch matches by a key. */
export function mergedBy(mergeKey: string, items: Field): ListField {
  return { items, mergeKey };
}

/** A map with free keys. */
export function mapOf(values: Field): MapField {
  return { values };
}

/** The type of the value under a key, if it is known. */
export function fieldOf(schema: Field | undefined, key: string): Field | undefined {
  if (typeof schema !== "object") return undefined;
  if ("fields" in schema) return schema.fields[key];
  return "values" in schema ? schema.values : undefined;
}

/** What {@linkcode normalize} found besides the value. */
interface Findings {
  /** Paths of fields that the server does not know, `spec.foo`. They are dropped. */
  readonly unknown: string[];
}

interface FieldPlace {
  readonly path: string;
  /** `v1.Node`-like name for messages. */
  readonly kind: string;
  readonly findings: Findings;
}

/**
 * The object as the server stores it: unknown fields, nulls and empty optional values are dropped.
 * Values of the wrong type are refused.
 *
 * @throws ApiError 400 naming the field
 */
export function normalize(
  schema: RecordField,
  value: JsonObject,
  options: { readonly kind: string; readonly findings: Findings },
): JsonObject {
  return normalizeRecord(schema, value, { ...options, path: "" });
}

function normalizeRecord(schema: RecordField, value: JsonObject, place: FieldPlace): JsonObject {
  const kept: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
    if (field === undefined) {
      place.findings.unknown.push(path);
      continue;
    }
    const item = value[key];
    if (item === null || item === undefined) continue;
    const result = normalizeField(field, item, { ...place, path });
    if (result !== undefined) kept[key] = result;
  }
  return kept;
}

function normalizeField(field: Field, value: Json, place: FieldPlace): Json | undefined {
  if (typeof field === "string") return normalizeScalar(field, value, place);
  if ("fields" in field) {
    if (!isObject(value)) throw wrongType(value, place);
    return normalizeRecord(field, value, place);
  }
  if ("items" in field) {
    if (!isArray(value)) throw wrongType(value, place);
    if (value.length === 0) return undefined;
    return value.map(
      (item, index) =>
        normalizeField(field.items, item, { ...place, path: `${place.path}[${index}]` }) ?? "",
    );
  }
  if (!isObject(value)) throw wrongType(value, place);
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  const kept: Record<string, Json> = {};
  for (const key of keys) {
    const item = value[key] ?? "";
    kept[key] =
      normalizeField(field.values, item, { ...place, path: `${place.path}.${key}` }) ?? "";
  }
  return kept;
}

function normalizeScalar(
  field: Exclude<Field, object>,
  value: Json,
  place: FieldPlace,
): Json | undefined {
  switch (field) {
    case "any":
      return value;
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(value, place);
      return value;
    case "flag":
      if (typeof value !== "boolean") throw wrongType(value, place);
      return value ? value : undefined;
    case "switch":
      if (typeof value !== "boolean") throw wrongType(value, place);
      return value;
    case "portOrName":
      if (typeof value === "number" && Number.isInteger(value)) return value;
      if (typeof value !== "string") throw wrongType(value, place);
      return value;
    case "quantity":
      if (typeof value === "number") return String(value);
      if (typeof value !== "string") throw wrongType(value, place);
      return value;
    default:
      if (typeof value !== "string") throw wrongType(value, place);
      checkTime(field, value, place);
      return value === "" && field === "text" ? undefined : value;
  }
}

// RFC 3339 as Go reads it; the fraction is optional in a Time and has six digits in a MicroTime.
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

function checkTime(field: Exclude<Field, object>, value: string, place: FieldPlace): void {
  const pattern = field === "microTime" ? MICRO_TIME : field === "time" ? TIME : undefined;
  if (pattern === undefined || pattern.test(value)) return;
  const layout =
    field === "microTime" ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  throw badRequest(
    `${place.kind} in version "v1" cannot be handled as a ${place.kind}: ${place.path}: ` +
      `parsing time "${value}" as "${layout}": cannot parse "${value}"`,
  );
}

function wrongType(value: Json, place: FieldPlace): Error {
  const type = isArray(value) ? "array" : isObject(value) ? "object" : typeof value;
  return badRequest(
    `${place.kind} in version "v1" cannot be handled as a ${place.kind}: json: cannot unmarshal ` +
      `${type} into Go struct field ${place.kind}.${place.path}`,
  );
}
