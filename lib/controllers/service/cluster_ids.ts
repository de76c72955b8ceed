/**
 * Finds the IDs of this cluster.
 * @module
 */
import { type Clock, toBackoffMs } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import { NAMESPACES } from "../../kube/kinds/namespace.ts";
import type { Service } from "../../kube/kinds/service.ts";

/** What {@linkcode findClusterIds} needs. */
interface ClusterIdOptions {
  readonly client: Pick<KubeClient, "read">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Caught up. */
  readonly services: Pick<StoreReader<Service>, "get">;
}

/** No cluster deletes it. */
const NAMESPACE = "kube-system";
/** Key of a Service that the API server makes, and makes again after a deletion. */
export const CLUSTER_SERVICE = "default/kubernetes";
const RETRY = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 } as const;

/**
 * Finds the UID of namespace `kube-system`, if it may be read, and that of Service `default/kubernetes`. Tries again
 * until one is known.
 *
 * @throws the reason of the signal
 */
export async function findClusterIds(
  options: ClusterIdOptions,
  signal: AbortSignal,
): Promise<readonly [string, ...string[]]> {
  const { client, clock, log, services } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      const ids = await readClusterIds(client, services.get(CLUSTER_SERVICE), signal);
      if (ids !== undefined) {
        const [id] = ids;
        const isOfService = id === services.get(CLUSTER_SERVICE)?.metadata.uid;
        const from = isOfService ? `Service ${CLUSTER_SERVICE}` : `namespace ${NAMESPACE}`;
        log.info("Cluster ID", { id, from });
        return ids;
      }
      log.warn("Cannot find the ID of this cluster; nothing is done for Services", {
        why: `namespace ${NAMESPACE} may not be read, and Service ${CLUSTER_SERVICE} is missing`,
      });
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Cannot find the ID of this cluster; trying again", { error });
    }
    await clock.sleep(toBackoffMs(failures, RETRY), signal);
  }
}

/**
 * Reads the UID of namespace `kube-system`, and adds that of Service `default/kubernetes`.
 *
 * @param service Service `default/kubernetes`, if there is one
 * @returns `undefined` if neither is known
 * @throws {KubeError} if the next try may find the namespace
 */
export async function readClusterIds(
  client: Pick<KubeClient, "read">,
  service: Service | undefined,
  signal: AbortSignal,
): Promise<readonly [string, ...string[]] | undefined> {
  const namespaceUid = await readNamespaceUid(client, signal);
  const uids = [namespaceUid, service?.metadata.uid].filter((uid) => uid !== undefined);
  const [first, ...others] = uids;
  return first === undefined ? undefined : [first, ...others];
}

/** @returns `undefined` if the API server refuses for good */
async function readNamespaceUid(
  client: Pick<KubeClient, "read">,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const namespace = await client.read(NAMESPACES, { name: NAMESPACE }, signal);
    return namespace.metadata.uid;
  } catch (error) {
    // With any other error the next try may find it, and its UID is on what an earlier process made.
    if (isKubeError(error, "forbidden") || isKubeError(error, "notFound")) return undefined;
    throw error;
  }
}
