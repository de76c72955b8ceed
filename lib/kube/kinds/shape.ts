/**
 * Checks that an answer looks like a Kubernetes object, in the fields that Landfall reads. The API server checks them
 * before it stores an object. So an answer that looks different comes from another server, or from a proxy on the way.
 * @module
 */
import { type Fields, isFields } from "../../core/text/json.ts";
import type { Kind, OptionalMetadata } from "./kind.ts";
import type { KubeObject } from "./resource.ts";
import { pick } from "./trim.ts";

/** Checks the value of a field. */
type Check = (value: unknown) => boolean;
/** Checks by the name of the field. */
export type Shapes = Readonly<Record<string, Check>>;

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
  const wrong =
    findWrong(metadata, META_SHAPES, "metadata.") ??
    findWrong(metadata, pick(OPTIONAL_SHAPES, resource.metadata ?? []), "metadata.") ??
    resource.findWrong?.(object);
  return wrong && `${wrong} has a wrong type`;
}

/**
 * Looks for a field of another shape. Every field may be absent or `null`.
 *
 * @returns Its name after the prefix; `undefined` if there is none
 */
export function findWrong(fields: Fields, shapes: Shapes, prefix: string): string | undefined {
  for (const name in shapes) {
    const value = fields[name];
    if (value !== undefined && value !== null && shapes[name]?.(value) === false)
      return prefix + name;
  }
  return undefined;
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
    // A loop: each Node is checked at each of its heartbeats.
    for (const name of names) if (typeof one[name] !== "string") return false;
    return true;
  };
  return (value) => Array.isArray(value) && value.every(isWhole);
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
  finalizers: (value) => Array.isArray(value) && value.every(isText),
  ownerReferences: isListWith("apiVersion", "kind", "name", "uid"),
  generation: (value) => typeof value === "number",
};
