/**
 * A whole list, page by page.
 * @module
 */
import type { KubeClient, ListPage, ListQuery } from "../api/client.ts";
import { isKubeError, KubeError } from "../api/errors.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject, Resource } from "../kinds/resource.ts";

/** All objects of a list at one version. */
interface WholeList<T> {
  readonly items: readonly T[];
  /** Version of the list: that of its first page. */
  readonly resourceVersion: string;
}

/** More than any cluster has (a million objects at 500 a page). Protects against a server that never ends. */
const PAGES_MAX = 2_000;

/**
 * Lists all objects, page by page. If a later page has expired (410), reads the list again in one piece, at the
 * requested version.
 *
 * @param query Query of the first page
 * @throws {KubeError} of the server; `unavailable` if the pages do not end, or form a circle
 */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  resource: Kind<T>,
  query: ListQuery,
  signal: AbortSignal,
): Promise<WholeList<T>> {
  const first = await client.list(resource, query, signal);
  if (first.continue === undefined) return toList(first);
  try {
    const items = [...first.items];
    const asked = new Set<string>();
    const { resourceVersion: _first, ...rest } = query;
    let next: string | undefined = first.continue;
    for (let pages = 1; next !== undefined; pages += 1) {
      if (pages >= PAGES_MAX) throw new KubeError("unavailable", toEndlessMessage(resource));
      if (asked.has(next)) throw new KubeError("unavailable", toCircleMessage(resource));
      asked.add(next);
      const page: ListPage<T> = await client.list(resource, { ...rest, continue: next }, signal);
      for (const item of page.items) items.push(item);
      next = page.continue;
    }
    return { items, resourceVersion: first.resourceVersion };
  } catch (error) {
    if (!isKubeError(error, "gone")) throw error;
    const { limit: _limit, ...inOnePiece } = query;
    const whole = await client.list(resource, inOnePiece, signal);
    if (whole.continue === undefined) return toList(whole);
    throw new KubeError("unavailable", toPartMessage(resource), { cause: error });
  }
}

function toList<T>({ items, resourceVersion }: ListPage<T>): WholeList<T> {
  return { items, resourceVersion };
}

function toPartMessage({ plural }: Resource<KubeObject>): string {
  return `Cannot list "${plural}": the answer to an unpaged list is only a part of it`;
}

function toCircleMessage({ plural }: Resource<KubeObject>): string {
  return `Cannot list "${plural}": a page leads back to an earlier one`;
}

function toEndlessMessage({ plural }: Resource<KubeObject>): string {
  return `Cannot list "${plural}": more than ${PAGES_MAX} pages`;
}
