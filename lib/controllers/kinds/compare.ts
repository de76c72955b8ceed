/**
 * Compares an object with what is wanted of it.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { isFields } from "../../core/text/values.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";

/** Fields that the API server never changes, by kind: with another value, the object must be made again. */
const FIXED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["spec", "selector"],
  RoleBinding: ["roleRef"],
  Secret: ["type"],
  Service: ["spec", "clusterIP"],
};

/**
 * What an object has in the fields that are wanted. The API server adds defaults beside them, and leaves out fields
 * that say nothing. Lists are compared whole if they have another length: then another program added or removed items.
 */
export function pickWanted(live: unknown, wanted: unknown): unknown {
  if (live === undefined && isEmpty(wanted)) return wanted;
  if (isFields(live) && isFields(wanted)) {
    return Object.fromEntries(
      Object.entries(wanted).map(([key, value]) => [key, pickWanted(live[key], value)]),
    );
  }
  if (Array.isArray(live) && Array.isArray(wanted) && live.length === wanted.length)
    return wanted.map((value, at) => pickWanted(live[at], value));
  return live;
}

/** Whether an object has all that is wanted of it. */
export function isAsWanted(live: KubeObject, wanted: KubeObject): boolean {
  return isDeepStrictEqual(pickWanted(live, wanted), wanted);
}

/** The path of a field that differs and that the API server never changes; `undefined` if there is none. */
export function findFixed(live: KubeObject, wanted: KubeObject): string | undefined {
  const path = FIXED_FIELDS[wanted.kind ?? ""];
  if (path === undefined) return undefined;
  const [before, after] = [readField(live, path), readField(wanted, path)];
  const differs = before !== undefined && after !== undefined && !isDeepStrictEqual(before, after);
  return differs ? path.join(".") : undefined;
}

function readField(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = isFields(value) ? value[name] : undefined;
  return value;
}

/** Whether the API server stores a value like an absent one. */
function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === false || value === 0 || value === "" || value === null;
}
