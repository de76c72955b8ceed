/**
 * Merge patches: JSON merge patch (RFC 7396), and Kubernetes' strategic merge patch, in which lists merge by the key
 * in their schema, unless the patch says otherwise.
 * @module
 */
import { badRequest } from "../api_error.ts";
import { type Field, fieldOf, type ListField } from "../schema/schema.ts";
import { isArray, isEqual, isObject, type Json, type JsonObject } from "./json.ts";

/**
 * Applies a merge patch: objects merge key by key, `null` removes, anything else replaces the old value.
 * Neither argument is changed.
 */
export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (isObject(value)) {
      const current = merged[key];
      merged[key] = applyMergePatch(isObject(current) ? current : {}, value);
    } else merged[key] = value;
  }
  return merged;
}

const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";

/**
 * Applies a strategic merge patch: `$patch: replace | delete | merge`, `$retainKeys`, `$deleteFromPrimitiveList/x`
 * and `$setElementOrder/x` included. Without a schema it works like a merge patch.
 *
 * Source: k8s.io/apimachinery `strategicpatch`, and "sig-api-machinery/strategic-merge-patch.md".
 *
 * @throws ApiError 400 for a directive the server does not know, or a list item without its merge key
 */
export function applyStrategicPatch(
  schema: Field | undefined,
  target: JsonObject,
  patch: JsonObject,
): JsonObject {
  const directive = patch["$patch"];
  if (directive === "replace") return stripDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw badDirective(directive);
  const merged: Record<string, Json> = retain(target, patch["$retainKeys"]);
  for (const [key, value] of Object.entries(patch)) {
    if (key === "$patch" || key === "$retainKeys") continue;
    if (key.startsWith(DELETE_FROM)) deleteFrom(merged, key.slice(DELETE_FROM.length), value);
    else if (!key.startsWith(ORDER)) mergeKey(merged, key, { value, field: fieldOf(schema, key) });
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const name = key.slice(ORDER.length);
    reorder(merged, name, { order: value, field: fieldOf(schema, name) });
  }
  return merged;
}

function badDirective(directive: Json): Error {
  return badRequest(`invalid value for directive "$patch": ${JSON.stringify(directive)}`);
}

function stripDirectives(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith("$")));
}

function retain(target: JsonObject, keys: Json | undefined): Record<string, Json> {
  if (!isArray(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function mergeKey(
  merged: Record<string, Json>,
  key: string,
  change: { readonly value: Json; readonly field: Field | undefined },
): void {
  const { value, field } = change;
  const current = merged[key];
  if (value === null) delete merged[key];
  else if (isObject(value)) {
    merged[key] = applyStrategicPatch(field, isObject(current) ? current : {}, value);
  } else if (isArray(value) && typeof field === "object" && "items" in field) {
    merged[key] = mergeList(field, isArray(current) ? current : [], value);
  } else merged[key] = value;
}

function mergeList(
  field: ListField,
  current: readonly Json[],
  patch: readonly Json[],
): readonly Json[] {
  if (field.set === true) {
    return [...current, ...patch.filter((item) => !current.includes(item))];
  }
  if (field.mergeKey === undefined) return patch;
  const replaces = patch.some((item) => isObject(item) && item["$patch"] === "replace");
  // An item with only the directive is no value: the other items replace the list.
  if (replaces) {
    return patch
      .map((item) => (isObject(item) ? stripDirectives(item) : item))
      .filter((item) => !isObject(item) || Object.keys(item).length > 0);
  }
  let list = current;
  for (const item of patch) list = mergeItem(field, list, item);
  return list;
}

function mergeItem(field: ListField, list: readonly Json[], item: Json): readonly Json[] {
  const key = field.mergeKey ?? "";
  if (!isObject(item)) throw badRequest(`expected an object in a list merged by ${key}`);
  const identity = item[key];
  if (identity === undefined) {
    throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  }
  const isSame = (other: Json): boolean => isObject(other) && isEqual(other[key], identity);
  if (item["$patch"] === "delete") return list.filter((other) => !isSame(other));
  const index = list.findIndex(isSame);
  const existing = list[index];
  if (!isObject(existing)) return [...list, stripDirectives(item)];
  return list.with(index, applyStrategicPatch(field.items, existing, item));
}

function deleteFrom(merged: Record<string, Json>, key: string, doomed: Json): void {
  const list = merged[key];
  if (!isArray(list) || !isArray(doomed)) return;
  merged[key] = list.filter((item) => !doomed.some((other) => isEqual(other, item)));
}

function reorder(
  merged: Record<string, Json>,
  key: string,
  wish: { readonly order: Json; readonly field: Field | undefined },
): void {
  const list = merged[key];
  const { order, field } = wish;
  if (!isArray(list) || !isArray(order)) return;
  const mergeKeyName = typeof field === "object" && "items" in field ? (field.mergeKey ?? "") : "";
  const identityOf = (item: Json): Json =>
    isObject(item) && mergeKeyName !== "" ? (item[mergeKeyName] ?? null) : item;
  const wanted = order.map(identityOf);
  const rank = (item: Json): number => {
    const index = wanted.findIndex((other) => isEqual(other, identityOf(item)));
    return index === -1 ? wanted.length : index;
  };
  merged[key] = list.toSorted((left, right) => rank(left) - rank(right));
}
