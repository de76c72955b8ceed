/**
 * Lists objects at a version, in pages and with selectors of labels and fields.
 * @module
 */
import { ApiError, badRequest, expired } from "./api_error.ts";
import { type ApiObject, isObject, type Json, objectAt, stringAt } from "./patches/json.ts";
import type { Registry } from "./registry.ts";
import type { Kind } from "./schema/kind.ts";
import type { Stored } from "./store.ts";

/** The content of a list and of its metadata. */
export interface List {
  readonly items: readonly Stored[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Where to list objects. `namespace` is `""` for all. */
export interface Scope {
  readonly kind: Kind;
  readonly namespace: string;
  /** A single object by name, as a watch of one path does. `""` for all. */
  readonly name: string;
}

/** The objects that a query and a scope select. @throws ApiError 400 */
export function toSelector(scope: Scope, query: URLSearchParams): Selector {
  const byLabel = parseLabelSelector(query.get("labelSelector") ?? "");
  const byField = parseFieldSelector(scope.kind, query.get("fieldSelector") ?? "");
  return (object) =>
    (scope.namespace === "" || stringAt(object.metadata, "namespace") === scope.namespace) &&
    (scope.name === "" || object.metadata.name === scope.name) &&
    byLabel(object) &&
    byField(object);
}

/**
 * Lists objects like the API server with its watch cache. Version `0` or no version returns the newest state. Any other
 * version returns a state that is not older. A continued list stays at the version of its first page.
 *
 * @throws ApiError 400 for a query that cannot be read, 410 when the version is gone, 504 when it is in the future
 */
export function listObjects(registry: Registry, scope: Scope, query: URLSearchParams): List {
  const collection = registry.collection(scope.kind);
  const selects = toSelector(scope, query);
  const page = toPage(query);
  const current = registry.versions.last;
  const asked = toVersion(query.get("resourceVersion"));
  refuseFuture(asked, current);
  const isExact = query.get("resourceVersionMatch") === "Exact";
  const version = page.from?.version ?? (isExact ? asked : current);
  const entries = collection.entriesAt(version);
  if (entries === undefined) throw goneList(page.from, current);
  const after = page.from?.after;
  const found = entries.filter(
    ([key, stored]) => (after === undefined || key > after) && selects(stored.object),
  );
  // The watch cache answers version 0 in full, with any limit.
  const ignoresLimit = query.get("resourceVersion") === "0" && page.from === undefined;
  const limit = page.limit === 0 || ignoresLimit ? found.length : page.limit;
  const shown = found.slice(0, limit);
  const rest = found.length - shown.length;
  const last = shown.at(-1)?.[0];
  const items = shown.map(([, stored]) => stored);
  if (rest === 0 || last === undefined) return { items, resourceVersion: String(version) };
  const filtered = query.has("labelSelector") || query.has("fieldSelector");
  return {
    items,
    resourceVersion: String(version),
    continue: toToken({ version, after: last }),
    ...(filtered ? {} : { remainingItemCount: rest }),
  };
}

interface Continuation {
  /** Version of the first page; -1 continues at the newest state, after an expired page. */
  readonly version: number;
  readonly after: string;
}

function toPage(query: URLSearchParams): {
  readonly limit: number;
  readonly from: Continuation | undefined;
} {
  const limit = toVersion(query.get("limit"));
  const token = query.get("continue") ?? "";
  if (token === "") return { limit, from: undefined };
  if ((query.get("resourceVersion") ?? "") !== "") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  return { limit, from: parseToken(token) };
}

function toToken(from: Continuation): string {
  const token = { v: "meta.k8s.io/v1", rv: from.version, start: `${from.after}\0` };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function parseToken(text: string): Continuation | undefined {
  let token: Json;
  try {
    token = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    throw badRequest("continue key is not valid: it is no token of this server");
  }
  if (!isObject(token) || typeof token["rv"] !== "number") {
    throw badRequest("continue key is not valid: it is no token of this server");
  }
  return { version: token["rv"], after: stringAt(token, "start").slice(0, -1) };
}

function goneList(from: Continuation | undefined, current: number): ApiError {
  if (from === undefined) return expired("The resourceVersion for the provided list is too old.");
  return expired(
    "The provided continue parameter is too old to display a consistent list result. " +
      "You can start a new list without the continue parameter, or use the continue token in this " +
      "response to retrieve the remainder of the results.",
    toToken({ version: current, after: from.after }),
  );
}

/** Reads a version or a limit; none is 0. @throws ApiError 400 */
export function toVersion(text: string | null): number {
  if (text === null || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(
    `Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
  );
}

function refuseFuture(asked: number, current: number): void {
  if (asked <= current) return;
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  throw new ApiError(504, "Timeout", message, {
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    },
    retryAfterSeconds: 1,
  });
}

/** Whether an object is selected. */
export type Selector = (object: ApiObject) => boolean;

/**
 * Reads a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
 *
 * @throws ApiError 400 when it cannot be read
 */
function parseLabelSelector(text: string): Selector {
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
function parseFieldSelector(kind: Kind, text: string): Selector {
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
