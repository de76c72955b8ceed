/**
 * Server-side apply for one manager among other writers: the fields it sets, the fields it removes, conflicts.
 * @module
 */
import { isArray, isEqual, isObject, type Json, type JsonObject } from "./json.ts";
import { type Field, fieldOf, type ListField } from "../schema/schema.ts";
import { applyStrategicPatch } from "./merge_patches.ts";

/** What one manager applies. */
interface Application {
  /** What the manager applied before; empty the first time. */
  readonly last: JsonObject;
  readonly wanted: JsonObject;
}

/** The fields that identify the object: they have no manager. */
const IDENTITY: ReadonlySet<string> = new Set([
  ".apiVersion",
  ".kind",
  ".metadata.name",
  ".metadata.namespace",
  ".metadata.resourceVersion",
  ".metadata.uid",
]);

/** The object with everything that is applied, and without the fields that only this manager applied before. */
export function applyWish(
  schema: Field,
  before: JsonObject,
  { last, wanted }: Application,
): JsonObject {
  const kept = applyStrategicPatch(schema, before, toRemovals(schema, before, { last, wanted }));
  return applyStrategicPatch(schema, kept, wanted);
}

/** Paths of fields, as `.spec.a`, that another manager set to another value. Merged lists have many owners. */
export function listConflicts(
  schema: Field | undefined,
  before: JsonObject,
  { last, wanted, path = "" }: Application & { readonly path?: string },
): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const [current, mine, at] = [before[key], last[key], `${path}.${key}`];
    const field = fieldOf(schema, key);
    if (current === undefined || IDENTITY.has(at) || isMerged(field)) return [];
    if (isObject(value) && isObject(current)) {
      const inner = { last: isObject(mine) ? mine : {}, wanted: value, path: at };
      return listConflicts(field, current, inner);
    }
    return isEqual(current, value) || isEqual(current, mine) ? [] : [at];
  });
}

/** A strategic merge patch that removes what is no longer applied, unless another writer has changed it. */
function toRemovals(
  schema: Field | undefined,
  before: JsonObject,
  { last, wanted }: Application,
): JsonObject {
  const patch: Record<string, Json> = {};
  for (const [key, mine] of Object.entries(last)) {
    const [current, value, field] = [before[key], wanted[key], fieldOf(schema, key)];
    if (isObject(mine) && isObject(current)) {
      const inner = { last: mine, wanted: isObject(value) ? value : {} };
      patch[key] = toRemovals(field, current, inner);
    } else if (isArray(mine) && isMerged(field)) {
      const dropped = mine.filter(
        (item) => !isArray(value) || !hasItem(value, item, field.mergeKey),
      );
      if (field.set) patch[`$deleteFromPrimitiveList/${key}`] = dropped;
      else patch[key] = toItemRemovals(field, { current, mine, value }, dropped);
    } else if (value === undefined && isEqual(current, mine)) patch[key] = null;
  }
  return patch;
}

/** Deletes items that are no longer applied, and removes fields from those that still are. */
function toItemRemovals(
  field: ListField,
  lists: {
    readonly current: Json | undefined;
    readonly mine: Json;
    readonly value: Json | undefined;
  },
  dropped: readonly Json[],
): readonly JsonObject[] {
  const { mergeKey = "" } = field;
  const [current, mine, value] = [lists.current, lists.mine, lists.value].map((list) =>
    isArray(list) ? list.filter(isObject) : [],
  );
  const kept = (mine ?? []).flatMap((last) => {
    const isSame = (one: JsonObject): boolean => isEqual(one[mergeKey], last[mergeKey]);
    const [before, wanted] = [current?.find(isSame), value?.find(isSame)];
    if (before === undefined || wanted === undefined) return [];
    const removals = toRemovals(field.items, before, { last, wanted });
    return Object.keys(removals).length === 0
      ? []
      : [{ ...removals, [mergeKey]: wanted[mergeKey] ?? null }];
  });
  return [...dropped.flatMap((item) => toDeletion(item, mergeKey)), ...kept];
}

/** Whether items of a list have owners, each by itself. */
function isMerged(field: Field | undefined): field is ListField {
  if (typeof field !== "object" || !("items" in field)) return false;
  return field.set === true || field.mergeKey !== undefined;
}

function hasItem(list: readonly Json[], item: Json, mergeKey: string | undefined): boolean {
  const identityOf = (one: Json): Json | undefined =>
    mergeKey !== undefined && isObject(one) ? one[mergeKey] : one;
  return list.some((one) => isEqual(identityOf(one), identityOf(item)));
}

function toDeletion(item: Json, mergeKey: string): JsonObject[] {
  if (!isObject(item)) return [];
  return [{ [mergeKey]: item[mergeKey] ?? null, $patch: "delete" }];
}
