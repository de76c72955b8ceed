/**
 * Label and field selectors.
 * @module
 */
import { badRequest } from "./api_error.ts";
import { isObject, objectAt, stringAt, type ApiObject, type Json } from "./patches/json.ts";
import type { Kind } from "./schema/kind.ts";

/** Whether an object is selected. */
export type Selector = (object: ApiObject) => boolean;

/**
 * Reads a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
 *
 * @throws ApiError 400 when it cannot be read
 */
export function parseLabelSelector(text: string): Selector {
  const parts = text.split(/,(?![^(]*\))/).filter((part) => part.trim() !== "");
  const tests = parts.map((part) => toLabelTest(part.trim()));
  return (object) => tests.every((test) => test(object));
}

function toLabelTest(text: string): Selector {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text);
  if (set !== null) {
    const values = new Set((set[3] ?? "").split(",").map((value) => value.trim()));
    const wanted = set[2] === "in";
    return (object) => values.has(labelOf(object, set[1] ?? "") ?? "\0") === wanted;
  }
  const equal = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(text);
  if (equal !== null) {
    const wanted = equal[2] !== "!=";
    return (object) => (labelOf(object, equal[1] ?? "") === equal[3]) === wanted;
  }
  const exists = /^(!?)\s*([^\s=!,()]+)$/.exec(text);
  if (exists === null) throw badRequest(`unable to parse requirement: ${text}`);
  return (object) => (labelOf(object, exists[2] ?? "") !== undefined) === (exists[1] === "");
}

function labelOf(object: ApiObject, key: string): string | undefined {
  const value = objectAt(object.metadata, "labels")[key];
  return typeof value === "string" ? value : undefined;
}

/**
 * Reads a field selector: `path=value`, `path==value`, `path!=value`, joined by commas.
 *
 * @throws ApiError 400 for a field that this kind has no selector for
 */
export function parseFieldSelector(kind: Kind, text: string): Selector {
  const tests = text
    .split(",")
    .filter((part) => part !== "")
    .map((part): Selector => {
      const parts = /^([^=!]+)(==|=|!=)(.*)$/.exec(part);
      if (parts === null) {
        throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
      }
      const [, path = "", operator, value] = parts;
      const known = ["metadata.name", ...(kind.namespaced ? ["metadata.namespace"] : [])];
      if (![...known, ...kind.selectable].includes(path)) {
        throw badRequest(`field label not supported: ${path}`);
      }
      return (object) => (fieldOf(object, path) === value) === (operator !== "!=");
    });
  return (object) => tests.every((test) => test(object));
}

function fieldOf(object: ApiObject, path: string): string {
  if (path === "source") return stringAt(objectAt(object, "source"), "component");
  if (path === "spec.unschedulable")
    return String(objectAt(object, "spec")["unschedulable"] === true);
  let value: Json | undefined = object;
  for (const part of path.split(".")) value = isObject(value) ? value[part] : undefined;
  return typeof value === "string" ? value : "";
}
