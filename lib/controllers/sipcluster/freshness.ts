/**
 * Whether a SIPCluster is still as the cache shows it: a process may lead before its watches caught up.
 * @module
 */
import type { KubeClient } from "../../kube/api/client.ts";
import { readIfPresent } from "../../kube/api/read_if_present.ts";
import { toKey } from "../../kube/cache/store.ts";
import { type SipCluster, SIP_CLUSTERS } from "./resource/sip_cluster.ts";
import type { Schedule } from "./schedule/types.ts";

/** The cache shows a SIPCluster that was changed, deleted or made again. The watch brings the new one. */
export class OutdatedClusterError extends Error {
  override readonly name = "OutdatedClusterError";
}

/** Whether a decision takes hosts or gives some back. */
export function changesHosts({ add, giveBack }: Pick<Schedule, "add" | "giveBack">): boolean {
  return add.length > 0 || giveBack.length > 0;
}

/**
 * Reads a cluster once more, before hosts are labelled or released: labels for a cluster that is gone would stay.
 *
 * @throws {OutdatedClusterError} if it is another one now, or has another spec
 * @throws {KubeError} if the API server does not say
 */
export async function requireCurrent(
  client: Pick<KubeClient, "read">,
  cluster: SipCluster,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name } = cluster.metadata;
  const current = await readIfPresent(client, SIP_CLUSTERS, { namespace, name }, signal);
  if (current !== undefined && isSame(cluster, current)) return;
  const what = current === undefined ? "is gone" : "was changed";
  throw new OutdatedClusterError(
    `Cannot change hosts: SIPCluster "${toKey(cluster)}" ${what}, and the watch has not shown it yet`,
  );
}

/** A deletion counts as another generation, too. */
function isSame({ metadata: cached }: SipCluster, { metadata: current }: SipCluster): boolean {
  return cached.uid === current.uid && cached.generation === current.generation;
}
