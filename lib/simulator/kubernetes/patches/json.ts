/**
 * JSON values as the simulated API server holds them: immutable trees that share their unchanged parts.
 * @module
 */

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Never changed in place. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A Kubernetes object in the store: `kind` and `apiVersion` are added to answers. */
export interface ApiObject extends JsonObject {
  readonly metadata: Metadata;
}

/** The metadata that the simulator itself reads or sets. */
export interface Metadata extends JsonObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
}

/** Whether a value is a JSON object (not null, not an array). */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON array. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The object under a key, or an empty one when there is none. */
export function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isObject(value) ? value : {};
}

/** The string under a key, or `""` when there is none. */
export function stringAt(parent: JsonObject, key: string): string {
  const value = parent[key];
  return typeof value === "string" ? value : "";
}

/** A copy of an object without one key. */
export function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _dropped, ...rest } = object;
  return rest;
}

/** Whether two values are the same JSON, with keys in any order. */
export function isEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isArray(left)) {
    if (!isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isEqual(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => key in right && isEqual(left[key], right[key]));
}
