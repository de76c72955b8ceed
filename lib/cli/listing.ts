/**
 * Lists objects for commands that end.
 * @module
 */
import type { KubeClient } from "../kube/api/client.ts";
import { KubeError } from "../kube/api/errors.ts";
import { listAll } from "../kube/cache/watcher.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";

const PER_PAGE = 500;

/** All objects of a kind. @throws {KubeError} if Kubernetes does not show them @throws the signal's reason */
export async function listObjects<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  kind: Resource<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  return (await listAll(client, kind, { limit: PER_PAGE }, signal)).items;
}

/** The same; `undefined` if Kubernetes does not show them: another finding says why. @throws the signal's reason */
export async function tryList<T extends KubeObject>(
  client: Pick<KubeClient, "list"> | undefined,
  kind: Resource<T>,
  signal: AbortSignal,
): Promise<readonly T[] | undefined> {
  if (client === undefined) return undefined;
  try {
    return await listObjects(client, kind, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
