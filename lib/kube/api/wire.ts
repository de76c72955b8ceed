/**
 * How to write requests and read answers. Sends nothing.
 * @module
 */
import { BodyError, parseBytes, readBytes, readText } from "../../core/http/request.ts";
import type { DeleteOptions, ListPage, ListQuery, Patch, WatchQuery } from "./client.ts";
import { EVENTS } from "../kinds/event.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";
import { isFields } from "../../core/text/values.ts";
import { findDamage } from "../kinds/shape.ts";

/** Longest answer that is no list, after unpacking: etcd stores no object over 2 MiB. */
const OBJECT_BYTES_MAX = 16 * 1024 * 1024;

/** The content type of each kind of patch. */
export const PATCH_CONTENT_TYPES: Readonly<Record<Patch["type"], string>> = {
  // JSON is YAML, too.
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** Whether only the leader may write objects of a kind. Events describe the past, and reviews change nothing. */
export function isFenced(resource: Resource<KubeObject>): boolean {
  const { apiVersion, kind } = resource;
  return !isReview(resource) && !(apiVersion === EVENTS.apiVersion && kind === EVENTS.kind);
}

/** Whether the API server only answers questions of this kind, and stores none. */
export function isReview({ apiVersion, kind }: Resource<KubeObject>): boolean {
  return /^auth\w+\.k8s\.io\//.test(apiVersion) && kind.endsWith("Review");
}

/** Path of the objects of a kind; without a namespace, of those in the whole cluster. */
export function toCollection(namespace: string | undefined): ObjectPath {
  return namespace === undefined ? {} : { namespace };
}

/**
 * Reads a JSON body. Another type, for example that of `/healthz`, becomes text.
 *
 * @param unread Names of lists to leave empty
 * @throws {SyntaxError} if the body claims to be JSON and is not
 * @throws {BodyError} if it is too long
 */
export async function readBody(reply: Response, unread?: readonly string[]): Promise<unknown> {
  const isJson = (reply.headers.get("content-type") ?? "").includes("json");
  if (!isJson) return await readText(reply, { bytesMax: OBJECT_BYTES_MAX });
  return parseBytes(await readBytes(reply, { bytesMax: OBJECT_BYTES_MAX }), unread);
}

/**
 * Checks that the answer is the object of the request. A proxy on the way may answer 200 with anything.
 *
 * @param name Required name; absent accepts any: reviews have no name
 * @throws {BodyError} if it is another object, or none
 */
export function toObject<T extends KubeObject>(
  value: unknown,
  { apiVersion, kind }: Resource<T>,
  name?: string,
): T {
  const isOne = isFields(value) && value["kind"] === kind && value["apiVersion"] === apiVersion;
  const metadata = isOne ? (value["metadata"] ?? {}) : undefined;
  if (isFields(metadata) && (name === undefined || metadata["name"] === name)) return value as T;
  const wanted = name === undefined ? kind : `${kind} of that name`;
  throw new BodyError(`the answer is not a ${wanted}`);
}

/**
 * The query of a deletion, and whether it can be repeated: not without a precondition, or it may delete another object.
 */
export function toDeletion({ uid, resourceVersion, propagationPolicy }: DeleteOptions): {
  readonly body: object;
  readonly repeatable: boolean;
} {
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  const repeatable = Object.keys(preconditions).length > 0;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(repeatable && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
  };
  return { body, repeatable };
}

/**
 * Reads the answer to a deletion: a Status of success, or the object. For some kinds, as Services, that is its last
 * state.
 *
 * @returns The object if it is being deleted, and still there
 * @throws {BodyError} if the answer is something else
 */
export function toDeleted<T extends KubeObject>(
  value: unknown,
  resource: Resource<T>,
): T | undefined {
  const { kind, status, metadata } = isFields(value) ? value : {};
  if (kind === "Status" && status === "Success") return undefined;
  if (kind !== resource.kind) throw new BodyError("the answer does not come from Kubernetes");
  const isLeft = isFields(metadata) && typeof metadata["deletionTimestamp"] === "string";
  return isLeft ? toObject(value, resource) : undefined;
}

/** Whether sending a patch or an object twice has the same effect as once, because the second one meets a conflict. */
export function hasPrecondition(body: object): boolean {
  const metadata: unknown = "metadata" in body ? body.metadata : undefined;
  return isFields(metadata) && typeof metadata["resourceVersion"] === "string";
}

/**
 * Reads one page of a list.
 *
 * @throws {BodyError} if the answer is not a list of this kind, or an object in it is damaged. An object
 * that a list lacks counts as gone, so only a complete list counts
 */
export function toPage<T extends KubeObject>(value: unknown, resource: Kind<T>): ListPage<T> {
  const { kind, items, metadata } = isFields(value) ? value : {};
  const { resourceVersion, continue: next } = isFields(metadata) ? metadata : {};
  const isOther = kind !== undefined && kind !== `${resource.kind}List`;
  if (isOther || typeof resourceVersion !== "string" || !(Array.isArray(items) || items === null)) {
    throw new BodyError("the answer is not a list");
  }
  // An empty list is `null` in some versions.
  const objects: readonly unknown[] = items ?? [];
  for (const [at, object] of objects.entries()) {
    // A frozen object was checked when it arrived.
    if (isFields(object) && Object.isFrozen(object)) continue;
    const damage = findDamage(resource, object);
    if (damage === undefined) continue;
    throw new BodyError(`object ${at} is damaged: ${damage}`);
  }
  return {
    items: objects as readonly T[],
    resourceVersion,
    ...(typeof next === "string" && next !== "" && { continue: next }),
  };
}

/** Query string of one page, with its question mark. */
export function toListSearch(query: ListQuery): string {
  const { limit, continue: next, resourceVersion, labelSelector, fieldSelector } = query;
  // A later page keeps the version of its list. Naming a version there is an error.
  const version = next === undefined ? resourceVersion : undefined;
  return toSearch({
    limit,
    continue: next,
    resourceVersion: version,
    labelSelector,
    fieldSelector,
  });
}

/** Query string of a patch, with its question mark; empty without parameters. */
export function toPatchSearch(patch: Patch): string {
  if (patch.type !== "apply") return "";
  const { fieldManager, force = false } = patch;
  return toSearch({ fieldManager, ...(force && { force: "true" }) });
}

/** Query string of a watch, with its question mark. Always asks for bookmarks. */
export function toWatchSearch(query: WatchQuery): string {
  const { resourceVersion, timeoutSeconds, labelSelector, fieldSelector } = query;
  const version = { watch: 1, allowWatchBookmarks: "true", resourceVersion, timeoutSeconds };
  return toSearch({ ...version, labelSelector, fieldSelector });
}

function toSearch(fields: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}
