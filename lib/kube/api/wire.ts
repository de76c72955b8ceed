/**
 * How requests are spelled and answers read, without sending anything.
 * @module
 */
import { arch, platform } from "node:os";
import { BodyError, readText } from "../../core/net/body.ts";
import type { DeleteOptions, ListPage, ListQuery, Patch, WatchQuery } from "./client.ts";
import { KubeError } from "./errors.ts";
import { EVENTS } from "../kinds/event.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject, ObjectPath, Resource } from "../kinds/resource.ts";
import type { KubeRequest } from "./request.ts";
import { findDamage, isFields } from "../kinds/shape.ts";

/** Longest answer other than a list, unpacked: etcd accepts no object beyond 2 MiB. */
const OBJECT_BYTES_MAX = 16 * 1024 * 1024;

/** How each kind of patch is announced. */
export const PATCH_CONTENT_TYPES: Readonly<Record<Patch["type"], string>> = {
  // JSON is YAML, too.
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** What varies from call to call. */
export interface Call {
  readonly method: KubeRequest["method"];
  /** Path and query. */
  readonly path: string;
  /** The verb, for errors. */
  readonly verb: string;
  readonly body?: object;
  readonly contentType?: string;
  /** Whether it does no harm to send it twice. */
  readonly repeatable: boolean;
  readonly beforeSend?: KubeRequest["beforeSend"];
  /** Takes the body. @default {as JSON} */
  readonly read?: (reply: Response, what: string, signal: AbortSignal) => Promise<unknown>;
}

/** What calls that only read have in common. */
export const GET: Pick<Call, "method" | "verb" | "repeatable"> = {
  method: "GET",
  verb: "read",
  repeatable: true,
};

/** The request of a call. @param context `deadlineMs`: monotonic milliseconds after which no pause may end */
export function toRequest(
  call: Call,
  { userAgent, deadlineMs }: { readonly userAgent: string; readonly deadlineMs: number },
): KubeRequest {
  const { method, path, body, contentType, repeatable, beforeSend } = call;
  return {
    method,
    path,
    headers: {
      accept: "application/json",
      "user-agent": userAgent,
      ...(contentType !== undefined && { "content-type": contentType }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    what: toWhat(call),
    repeatable,
    beforeSend,
    deadlineMs,
  };
}

/** Whether only the leader may send a call. Events tell of what is over, and reviews change nothing. */
export function isFenced({ method }: Call, { apiVersion, kind }: Resource<KubeObject>): boolean {
  if (method === "GET" || method === "DELETE") return method === "DELETE";
  const isReview = /^auth\w+\.k8s\.io\//.test(apiVersion) && kind.endsWith("Review");
  return !isReview && !(apiVersion === EVENTS.apiVersion && kind === EVENTS.kind);
}

/** A call for errors, as `patch "/api/v1/nodes/a"`. */
export function toWhat({ verb, path }: Pick<Call, "verb" | "path">): string {
  return `${verb} "${path.split("?")[0]}"`;
}

/** Where the objects of a kind are; those of the whole cluster without a namespace. */
export function toCollection(namespace: string | undefined): ObjectPath {
  return namespace === undefined ? {} : { namespace };
}

/** What a client calls itself, in the form of the components of Kubernetes. */
export function toUserAgent(version: string, component: string | undefined): string {
  const suffix = component === undefined ? "" : `/${component}`;
  // Architectures are written as Go writes them, like everywhere in Kubernetes.
  const goArch = { x64: "amd64", ia32: "386" }[arch() as string] ?? arch();
  return `landfall/${version} (${platform()}/${goArch}) kubernetes${suffix}`;
}

/**
 * Reads a JSON body; another kind, as of `/healthz`, is given as text.
 *
 * @throws {KubeError} `unavailable` when it says it is JSON and is not, or is longer than anything good
 */
export async function readBody(reply: Response, what: string): Promise<unknown> {
  const text = await readText(reply, { bytesMax: OBJECT_BYTES_MAX }).catch((cause: unknown) => {
    if (!(cause instanceof BodyError)) throw cause;
    throw new KubeError("unavailable", `Cannot ${what}: ${cause.message}`, { cause });
  });
  if (!(reply.headers.get("content-type") ?? "").includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError("unavailable", `Cannot ${what}: the answer is not JSON`, { cause });
  }
}

/**
 * Takes an answer for the object that was asked for or written. What stands in between may answer 200 with anything.
 *
 * @param name What it must be called; anything when absent: reviews have no name
 * @throws {KubeError} `unavailable` when it is another one, or none
 */
export function toObject<T extends KubeObject>(
  value: unknown,
  { apiVersion, kind }: Resource<T>,
  { what, name }: { readonly what: string; readonly name?: string | undefined },
): T {
  const isOne = isFields(value) && value["kind"] === kind && value["apiVersion"] === apiVersion;
  const metadata = isOne ? (value["metadata"] ?? {}) : undefined;
  if (isFields(metadata) && (name === undefined || metadata["name"] === name)) return value as T;
  const wanted = name === undefined ? kind : `${kind} of that name`;
  throw new KubeError("unavailable", `Cannot ${what}: the answer is not a ${wanted}`);
}

/** What a deletion says, and whether it may be sent twice: not without a precondition, or it may hit another object. */
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
 * Takes an answer for that to a deletion: a Status of success, or the object that is on its way out.
 *
 * @throws {KubeError} `unavailable` when it is something else
 */
export function checkDeleted(value: unknown, { kind }: Resource<KubeObject>, what: string): void {
  const answer = isFields(value) ? value : {};
  const isDone = answer["kind"] === "Status" && answer["status"] === "Success";
  if (isDone || answer["kind"] === kind) return;
  throw new KubeError("unavailable", `Cannot ${what}: the answer does not come from Kubernetes`);
}

/** Whether sending a patch or an object twice has no other effect than sending it once: the second meets a conflict. */
export function hasPrecondition(body: object): boolean {
  const metadata: unknown = "metadata" in body ? body.metadata : undefined;
  return isFields(metadata) && typeof metadata["resourceVersion"] === "string";
}

/**
 * Reads one page of a list.
 *
 * @throws {KubeError} `unavailable` when the answer is not a list of these, or one of its objects is damaged: an object
 * that a list lacks counts as gone, so only a whole list counts
 */
export function toPage<T extends KubeObject>(
  value: unknown,
  resource: Kind<T>,
  path: string,
): ListPage<T> {
  const { kind, items, metadata } = isFields(value) ? value : {};
  const { resourceVersion, continue: next } = isFields(metadata) ? metadata : {};
  const isOther = kind !== undefined && kind !== `${resource.kind}List`;
  if (isOther || typeof resourceVersion !== "string" || !(Array.isArray(items) || items === null)) {
    throw new KubeError("unavailable", `Cannot list "${path}": the answer is not a list`);
  }
  // An empty list is `null` in some versions.
  const objects: readonly unknown[] = items ?? [];
  for (const [at, object] of objects.entries()) {
    // What is frozen was looked at when it came.
    if (isFields(object) && Object.isFrozen(object)) continue;
    const damage = findDamage(resource, object);
    if (damage === undefined) continue;
    throw new KubeError("unavailable", `Cannot list "${path}": object ${at} is damaged: ${damage}`);
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
  // A page after the first keeps the version of its list; naming one is an error.
  const version = next === undefined ? resourceVersion : undefined;
  return toSearch({
    limit,
    continue: next,
    resourceVersion: version,
    labelSelector,
    fieldSelector,
  });
}

/** Query string of a patch, with its question mark when there is anything to say. */
export function toPatchSearch(patch: Patch): string {
  if (patch.type !== "apply") return "";
  const { fieldManager, force = false } = patch;
  return toSearch({ fieldManager, ...(force && { force: "true" }) });
}

/** Query string of a watch, with its question mark. Bookmarks are always asked for. */
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
