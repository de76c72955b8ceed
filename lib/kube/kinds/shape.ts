/**
 * Checks that an answer looks like a Kubernetes object, in the fields that Landfall reads. The API server checks them
 * before it stores an object. So an answer that looks different comes from another server, or from a proxy on the way.
 * @module
 */
import { type Fields, isFields } from "../../core/text/values.ts";
import type { Check, Kind, OptionalMetadata, Shapes } from "./kind.ts";
import type { KubeObject } from "./resource.ts";
import { pick } from "./trim.ts";

/**
 * Looks for a problem in an object, or in an item of a list or watch.
 *
 * @returns The problem, for example `metadata.labels has a wrong type`, without values; `undefined` if there is none
 */
export function findDamage(resource: Kind<KubeObject>, object: unknown): string | undefined {
  if (!isFields(object)) return "it is not an object";
  const { metadata } = object;
  if (!isFields(metadata)) return "it has no metadata";
  if (typeof metadata["name"] !== "string" || metadata["name"] === "") return "it has no name";
  const inMetadata =
    findWrong(metadata, META_SHAPES) ??
    findWrong(metadata, pick(OPTIONAL_SHAPES, resource.metadata ?? []));
  if (inMetadata !== undefined) return `metadata.${inMetadata} has a wrong type`;
  const wrong = resource.shapes && findWrong(object, resource.shapes);
  return wrong && `${wrong} has a wrong type`;
}

/** The path of a field of another shape. Every field may be absent or `null`. */
function findWrong(fields: Fields, shapes: Shapes): string | undefined {
  // Loops without copies: each Node is checked at each of its heartbeats.
  for (const name in shapes) {
    const shape = shapes[name];
    const value = fields[name];
    if (shape === undefined || value === undefined || value === null) continue;
    if (typeof shape === "function") {
      if (!shape(value)) return name;
      continue;
    }
    if (!isFields(value)) return name;
    const inside = findWrong(value, shape);
    if (inside !== undefined) return `${name}.${inside}`;
  }
  return undefined;
}

/** Checks a list, each item by its shapes. */
export function isListOf(shapes: Check | Shapes): Check {
  const isOne: Check =
    typeof shapes === "function"
      ? shapes
      : (one) => isFields(one) && findWrong(one, shapes) === undefined;
  return (value) => Array.isArray(value) && value.every(isOne);
}

/** Whether a value is a text. */
export function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTexts(value: unknown): boolean {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
}

/** Checks a list of objects with these text fields. */
export function isListWith(...names: readonly string[]): Check {
  const isWhole: Check = (one) => {
    if (!isFields(one)) return false;
    for (const name of names) if (typeof one[name] !== "string") return false;
    return true;
  };
  return isListOf(isWhole);
}

const META_SHAPES: Shapes = {
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  creationTimestamp: isText,
  deletionTimestamp: isText,
  labels: isTexts,
  annotations: isTexts,
};

const OPTIONAL_SHAPES: Readonly<Record<OptionalMetadata, Check>> = {
  finalizers: isListOf(isText),
  ownerReferences: isListWith("apiVersion", "kind", "name", "uid"),
  generation: (value) => typeof value === "number",
};
