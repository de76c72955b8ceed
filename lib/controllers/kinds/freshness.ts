/**
 * Whether an object of our kinds is still as the cache shows it: a process may lead before its watches caught up.
 * @module
 */
import type { KubeClient } from "../../kube/api/client.ts";
import { readIfPresent } from "../../kube/api/read_if_present.ts";
import { toKey } from "../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";

/** The cache shows an object that was changed, deleted or made again. The watch brings the new one. */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

/** How soon to look again at an object that the cache shows too late, in milliseconds. */
export const OUTDATED_PAUSE_MS = 2_000;

/**
 * Reads an object once more, before anything is changed because of it: what is made for an object that is gone would
 * stay.
 *
 * @param object As the cache shows it, with its generation
 * @returns It as the API server has it now
 * @throws {OutdatedError} if it is another one now, or has another spec
 * @throws {KubeError} if the API server does not say
 */
export async function requireCurrent<T extends KubeObject>(
  client: Pick<KubeClient, "read">,
  resource: Resource<T>,
  object: T,
  signal: AbortSignal,
): Promise<T> {
  const { namespace = "", name } = object.metadata;
  const current = await readIfPresent(client, resource, { namespace, name }, signal);
  if (current !== undefined && isSame(object, current)) return current;
  const what = current === undefined ? "is gone" : "was changed";
  throw new OutdatedError(
    `Cannot change anything: ${resource.kind} "${toKey(object)}" ${what}, and the watch has not shown it yet`,
  );
}

/** A deletion counts as another generation, too. */
function isSame({ metadata: cached }: KubeObject, { metadata: current }: KubeObject): boolean {
  return cached.uid === current.uid && cached.generation === current.generation;
}
