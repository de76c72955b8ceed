/**
 * JSON patch (RFC 6902).
 * @module
 */
import { ApiError, badRequest } from "../api_error.ts";
import { isArray, isEqual, isObject, type Json, type JsonObject } from "./json.ts";

// The Kubernetes API server refuses longer ones.
const OPERATIONS_MAX = 10_000;

/**
 * Applies a list of operations in order; if one fails, none counts. The target does not change.
 *
 * @throws ApiError 400 when the patch is not valid, 422 when an operation fails
 */
export function applyJsonPatch(target: JsonObject, patch: Json): JsonObject {
  if (!isArray(patch)) throw badRequest("json patch must be an array of operations");
  if (patch.length > OPERATIONS_MAX) {
    throw new ApiError(
      413,
      "RequestEntityTooLarge",
      "The allowed maximum operations in a JSON patch is 10000",
    );
  }
  let result: Json = target;
  for (const operation of patch) {
    if (!isObject(operation)) throw badRequest("json patch operation must be an object");
    result = applyOperation(result, operation);
  }
  if (!isObject(result)) throw failed("the result is no object");
  return result;
}

function applyOperation(target: Json, operation: JsonObject): Json {
  const path = toPointer(operation["path"]);
  const value = operation["value"] ?? null;
  switch (operation["op"]) {
    case "add":
      return write(target, path, { value, insert: true });
    case "replace":
      read(target, path);
      return write(target, path, { value, insert: false });
    case "remove":
      return remove(target, path);
    case "test":
      if (isEqual(readOrNull(target, path), value)) return target;
      throw failed(`testing value ${String(operation["path"])} failed: test failed`);
    case "copy":
      return write(target, path, {
        value: read(target, toPointer(operation["from"])),
        insert: true,
      });
    case "move": {
      const from = toPointer(operation["from"]);
      return write(remove(target, from), path, { value: read(target, from), insert: true });
    }
    default:
      throw failed(`Unexpected kind: ${String(operation["op"])}`);
  }
}

function failed(message: string): ApiError {
  return new ApiError(422, "Invalid", `the server rejected our request: ${message}`);
}

function toPointer(path: Json | undefined): readonly string[] {
  if (typeof path !== "string") throw badRequest("json patch operation has no path");
  if (path === "") return [];
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function toIndex(list: readonly Json[], part: string, lengthMax: number): number {
  const index = part === "-" ? list.length : Number(part);
  if (!/^(0|[1-9]\d*|-)$/.test(part) || index > lengthMax) {
    throw failed(`invalid index referenced: ${part}`);
  }
  return index;
}

function child(target: Json, part: string): Json | undefined {
  if (isObject(target)) return target[part];
  if (isArray(target)) return target[toIndex(target, part, target.length)];
  return undefined;
}

function read(target: Json, path: readonly string[]): Json {
  let value: Json | undefined = target;
  for (const part of path) {
    value = value === undefined ? undefined : child(value, part);
    if (value === undefined) throw failed(`missing value: /${path.join("/")}`);
  }
  return value ?? null;
}

function readOrNull(target: Json, path: readonly string[]): Json {
  let value: Json | undefined = target;
  for (const part of path) value = value === undefined ? undefined : child(value, part);
  return value ?? null;
}

function write(
  target: Json,
  path: readonly string[],
  change: { readonly value: Json; readonly insert: boolean },
): Json {
  const [part, ...rest] = path;
  if (part === undefined) return change.value;
  const inner = rest.length === 0 ? undefined : child(target, part);
  if (rest.length > 0 && inner === undefined) throw failed(`missing path: /${part}`);
  const value = inner === undefined ? change.value : write(inner, rest, change);
  if (isObject(target)) return { ...target, [part]: value };
  if (!isArray(target)) throw failed(`missing path: /${part}`);
  const inserts = rest.length === 0 && change.insert;
  const index = toIndex(target, part, inserts ? target.length : target.length - 1);
  return inserts ? target.toSpliced(index, 0, value) : target.with(index, value);
}

function remove(target: Json, path: readonly string[]): Json {
  const [part, ...rest] = path;
  if (part === undefined) throw failed("cannot remove the whole document");
  const inner = child(target, part);
  if (inner === undefined) throw failed(`Unable to remove nonexistent key: ${part}`);
  if (rest.length > 0) {
    return write(target, [part], { value: remove(inner, rest), insert: false });
  }
  if (isArray(target)) return target.toSpliced(toIndex(target, part, target.length - 1), 1);
  if (!isObject(target)) throw failed(`missing path: /${part}`);
  const { [part]: _removed, ...others } = target;
  return others;
}
