/**
 * How requests are spelled and answers read, without sending anything.
 * @module
 */
import type { ListPage, ListQuery, WatchQuery } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { KubeObject } from "./resource.ts";

/**
 * Reads a JSON body; another kind, as of `/healthz`, is given as text.
 *
 * @throws {KubeError} `unavailable` when it says it is JSON and is not
 */
export async function readBody(reply: Response, what: string): Promise<unknown> {
  if (!(reply.headers.get("content-type") ?? "").includes("json")) return reply.text();
  try {
    return await reply.json();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new KubeError("unavailable", `Cannot ${what}: the answer is not JSON`, { cause: error });
  }
}

/** Whether sending a patch or an object twice has no other effect than sending it once: the second meets a conflict. */
export function hasPrecondition(body: object): boolean {
  if (Array.isArray(body)) return body.some(isVersionTest);
  const metadata: unknown = "metadata" in body ? body.metadata : undefined;
  if (typeof metadata !== "object" || metadata === null) return false;
  return "resourceVersion" in metadata && typeof metadata.resourceVersion === "string";
}

function isVersionTest(step: unknown): boolean {
  if (typeof step !== "object" || step === null || !("op" in step) || !("path" in step)) {
    return false;
  }
  return step.op === "test" && step.path === "/metadata/resourceVersion";
}

/**
 * Reads one page of a list.
 *
 * @throws {KubeError} `unavailable` when the answer is no list
 */
export function toPage<T extends KubeObject>(value: unknown, path: string): ListPage<T> {
  const { items, metadata } = Object(value) as {
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  };
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== "string" || !(Array.isArray(items) || items === null)) {
    throw new KubeError("unavailable", `Cannot list "${path}": the answer is no list`);
  }
  const next = metadata?.continue;
  return {
    // An empty list is `null` in some versions.
    items: (items ?? []) as readonly T[],
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

/** Query string of a watch, with its question mark. Bookmarks are always asked for. */
export function toWatchSearch({ resourceVersion, timeoutSeconds }: WatchQuery): string {
  return toSearch({ watch: 1, allowWatchBookmarks: "true", resourceVersion, timeoutSeconds });
}

function toSearch(fields: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}
