/**
 * JSON merge patch (RFC 7396).
 * @module
 */
import { isObject, type Json, type JsonObject } from "./json.ts";

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
