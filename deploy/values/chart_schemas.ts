/**
 * Schemas and helpers for the values of the Helm chart.
 * @module
 */
import type { ChartValue, Schema } from "./chart_value.ts";

/** Any text. */
export const TEXT: Schema = { type: "string" };
/** true or false. */
export const SWITCH: Schema = { type: "boolean" };
/** An object with any keys. */
export const OBJECT: Schema = { type: "object" };
/** A list of objects. */
export const OBJECTS: Schema = { type: "array", items: OBJECT };
/** Texts by key. */
export const TEXTS: Schema = { type: "object", additionalProperties: { type: "string" } };
/** Digest of an image, or empty. */
export const DIGEST: Schema = { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" };
/** Tag of an image, or empty. */
export const TAG: Schema = { type: "string", pattern: "^([A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?$" };
/** Web address without a fragment, or empty. */
export const URL: Schema = { type: "string", pattern: "^(https?://[^#]+)?$" };
/** Web address without a path, or empty. */
export const HTTPS_ORIGIN: Schema = { type: "string", pattern: "^(https://[^/#?@]+/?)?$" };
/** A port. */
export const PORT: Schema = { type: "integer", minimum: 1, maximum: 65_535 };
/** Duration as Prometheus accepts it, or empty. */
export const DURATION: Schema = { type: "string", pattern: "^([0-9]+(ms|s|m|h))*$" };
/** Key of a Secret, or empty. */
export const FILE_NAME: Schema = { type: "string", pattern: "^[-._a-zA-Z0-9]*$" };
/** Name of a Kubernetes object. */
export const OBJECT_NAME: Schema = {
  type: "string",
  pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$",
  maxLength: 253,
};
/** Names of namespaces (RFC 1123). */
export const NAMESPACES: Schema = {
  type: "array",
  items: { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 },
  uniqueItems: true,
};
/** Name of a Service: fewer characters are allowed than in other names (RFC 1035). */
export const SERVICE_NAME: Schema = {
  type: "string",
  pattern: "^([a-z]([-a-z0-9]*[a-z0-9])?)?$",
  maxLength: 63,
};

/** A value with its help and its default. */
export function value(help: string, fallback: unknown, schema: Schema): ChartValue {
  return { help, default: fallback, schema };
}
