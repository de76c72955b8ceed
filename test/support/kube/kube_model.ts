/**
 * Checks objects against the types of a current Kubernetes, as its client library has them.
 * @module
 */
import * as client from "@kubernetes/client-node";

interface Attribute {
  readonly baseName: string;
  /** `string`, `V1PodSpec`, `Array<V1Container>`, `{ [key: string]: string; }`, `IntOrString`, `any` */
  readonly type: string;
}

const MODELS: ReadonlyMap<string, unknown> = new Map(Object.entries(client));

/**
 * Says what in an object a current API server would not know or not take.
 *
 * @param object With `apiVersion` and `kind`, of the v1 of its group
 * @returns A line for each problem, with its path; none for kinds that Kubernetes itself does not have
 */
export function listModelProblems(
  object: Readonly<Record<string, unknown>> & { readonly kind: string },
): string[] {
  return check(object, `V1${object.kind}`, object.kind);
}

function check(value: unknown, type: string, path: string): string[] {
  const [, item] = /^Array<(.+)>$/.exec(type) ?? [];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path}: must be a list`];
    return value.flatMap((one, at) => check(one, item, `${path}[${at}]`));
  }
  const [, entry] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? [];
  if (entry !== undefined) {
    if (!isObject(value)) return [`${path}: must be a map`];
    return Object.entries(value).flatMap(([key, one]) => check(one, entry, `${path}.${key}`));
  }
  if (["string", "number", "boolean"].includes(type)) {
    return typeof value === type ? [] : [`${path}: must be a ${type}`];
  }
  if (type === "IntOrString") {
    return ["number", "string"].includes(typeof value) ? [] : [`${path}: must be a number or text`];
  }
  const attributes = findAttributes(type);
  if (attributes === undefined) return [];
  if (!isObject(value)) return [`${path}: must be an object`];
  return Object.entries(value).flatMap(([key, one]) => {
    const attribute = attributes.find(({ baseName }) => baseName === key);
    if (attribute === undefined) return [`${path}.${key}: there is no such field`];
    return check(one, attribute.type, `${path}.${key}`);
  });
}

function findAttributes(type: string): readonly Attribute[] | undefined {
  const model = MODELS.get(type);
  if (typeof model !== "function" || !("getAttributeTypeMap" in model)) return undefined;
  const { getAttributeTypeMap } = model;
  return typeof getAttributeTypeMap === "function" ? getAttributeTypeMap() : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
