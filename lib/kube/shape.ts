/**
 * Whether what is said to be an object of Kubernetes looks like one, as far as it is read here. The API server checks
 * all of this before it stores anything: whoever answers otherwise is something else, or something in between.
 * @module
 */
import type { KubeObject, Resource } from "./resource.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value has fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Looks for what is wrong with an object, an item of a list or of a watch.
 *
 * @returns What is wrong, such as `metadata.labels is of another shape`, without any value; `undefined` when nothing is
 */
export function findDamage(resource: Resource<KubeObject>, object: unknown): string | undefined {
  if (!isFields(object)) return "it is no object";
  const { metadata } = object;
  if (!isFields(metadata)) return "it has no metadata";
  if (typeof metadata["name"] !== "string" || metadata["name"] === "") return "it has no name";
  const wrong =
    findWrong(metadata, META_SHAPES, "metadata.") ??
    (resource.kind === "Node" ? findWrongInNode(object) : undefined);
  return wrong && `${wrong} is of another shape`;
}

function findWrongInNode({ spec, status }: Fields): string | undefined {
  return (
    findWrong({ spec, status }, { spec: isFields, status: isFields }, "") ??
    (isFields(spec) ? findWrong(spec, SPEC_SHAPES, "spec.") : undefined) ??
    (isFields(status) ? findWrong(status, STATUS_SHAPES, "status.") : undefined)
  );
}

type Check = (value: unknown) => boolean;

/** What is absent or `null` is not there, which every field may be. */
function findWrong(
  fields: Fields,
  shapes: Readonly<Record<string, Check>>,
  prefix: string,
): string | undefined {
  for (const name in shapes) {
    const value = fields[name];
    if (value !== undefined && value !== null && shapes[name]?.(value) === false)
      return prefix + name;
  }
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTexts(value: unknown): boolean {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
}

/** A list of what has these fields, all of them texts. */
function isListWith(...names: readonly string[]): Check {
  const isWhole: Check = (one) =>
    isFields(one) && names.every((name) => typeof one[name] === "string");
  return (value) => Array.isArray(value) && value.every(isWhole);
}

const META_SHAPES: Readonly<Record<string, Check>> = {
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  creationTimestamp: isText,
  deletionTimestamp: isText,
  labels: isTexts,
  annotations: isTexts,
};

const SPEC_SHAPES: Readonly<Record<string, Check>> = {
  providerID: isText,
  taints: isListWith("key", "effect"),
};

const STATUS_SHAPES: Readonly<Record<string, Check>> = {
  addresses: isListWith("type", "address"),
  conditions: isListWith("type", "status"),
  nodeInfo: (value) => isFields(value) && isText(value["systemUUID"] ?? ""),
};
