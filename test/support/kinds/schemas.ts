/**
 * The schemas of CRDs, as an API server uses them: rules, fields and limits.
 * @module
 */
import { evaluate } from "@marcbachmann/cel-js";
import type { OpenApiSchema } from "../../../lib/kube/kinds/crd.ts";

/** A spec with one mistake. */
export interface SpecCase {
  readonly title: string;
  readonly spec: unknown;
  /** What the check says. */
  readonly problem: string;
  /**
   * What refuses it: `types` and `rule` (in CEL) the API server with the CRD, `check` only the controller.
   */
  readonly refusedBy: "check" | "rule" | "types";
}

/** Messages of the rules that a value breaks, as an API server finds them. */
export function listBroken(schema: OpenApiSchema, value: unknown): string[] {
  const own = (schema["x-kubernetes-validations"] ?? [])
    .filter(({ rule }) => evaluate(rule, { self: toCel(value) }) !== true)
    .map(({ message }) => message);
  return [...own, ...listParts(schema, value).flatMap(([part, one]) => listBroken(part, one))];
}

function listParts(schema: OpenApiSchema, value: unknown): [OpenApiSchema, unknown][] {
  const { items, additionalProperties, properties = {} } = schema;
  if (Array.isArray(value)) return items === undefined ? [] : value.map((one) => [items, one]);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]): [OpenApiSchema, unknown][] => {
    const part = properties[key] ?? additionalProperties;
    return part === undefined ? [] : [[part, one]];
  });
}

/** CEL tells whole numbers from others; a field of an API server with such a type is one. */
function toCel(value: unknown): unknown {
  if (typeof value === "number") return BigInt(value);
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toCel(one)]));
}

/** Lists all schemas within a schema by their paths: `.spec.nodes[].name`, `.spec.labels.*`. */
export function listSchemas(schema: OpenApiSchema, path = ""): [string, OpenApiSchema][] {
  const { items, additionalProperties, properties = {} } = schema;
  return [
    [path, schema],
    ...Object.entries(properties).flatMap(([key, one]) => listSchemas(one, `${path}.${key}`)),
    ...(items ? listSchemas(items, `${path}[]`) : []),
    ...(additionalProperties ? listSchemas(additionalProperties, `${path}.*`) : []),
  ];
}

/** Paths of all fields of a schema; with a value only of those that it has. Free keys and indices are left out. */
export function listPaths(schema: OpenApiSchema, value?: unknown, path = ""): string[] {
  const { properties = {}, items, additionalProperties } = schema;
  const inner = items ?? additionalProperties;
  if (inner !== undefined) {
    const all = value === undefined ? [undefined] : Object.values(Object(value));
    return [path, ...all.flatMap((one) => listPaths(inner, one, path))];
  }
  const keys = Object.keys(value === undefined ? properties : Object(value));
  return [
    path,
    ...keys.flatMap((key) => {
      const field = properties[key];
      const part: unknown = value === undefined ? undefined : Object(value)[key];
      return field === undefined ? [] : listPaths(field, part, `${path}.${key}`);
    }),
  ];
}

/** Lists the paths without a largest size: rules that go through them have no bounded cost. */
export function listUnbounded(schema: OpenApiSchema): string[] {
  const unbounded = listSchemas(schema).filter(
    ([, one]) =>
      (one.type === "array" && one.maxItems === undefined) ||
      (one.additionalProperties !== undefined && !("maxProperties" in one)) ||
      (one.type === "string" && one.enum === undefined && !("maxLength" in one)),
  );
  return unbounded.map(([path]) => path);
}
