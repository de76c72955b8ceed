/**
 * Deletes what a SIPCluster has that is being deleted: services, then labels, then the finalizer. While hosts are in
 * use it takes nothing down, because a tenant works with them: the deletion may be a mistake.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { listAll } from "../../kube/cache/list_all.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { findDamage } from "../../kube/kinds/shape.ts";
import { trimObject } from "../../kube/kinds/trim.ts";
import type { ClusterWriter } from "./cluster_writer.ts";
import type { HostIndex } from "./hosts/host_index.ts";
import {
  describeKept,
  listHolds,
  type MembershipOptions,
  OvertakenError,
  releaseAll,
} from "./membership.ts";
import { checkCluster } from "./resource/check_spec.ts";
import type { SipCluster, SipClusterSpec } from "./resource/sip_cluster.ts";
import type { Member, Outcome } from "./resource/status.ts";
import type { ClusterServices, Served } from "./services/cluster_services.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, EVENT_WORDS, FINALIZER, FORCE_RELEASE } from "./words.ts";

/** What {@linkcode release} needs. */
export interface ReleaseOptions {
  readonly clock: Clock;
  readonly writer: Pick<ClusterWriter, "warn" | "writeStatus" | "setFinalizers">;
  readonly services: Pick<ClusterServices, "remove">;
  /** Looks after the services of the cluster. @returns What it has, and when to look again, in milliseconds */
  readonly serve: (
    spec: SipClusterSpec,
    signal: AbortSignal,
  ) => Promise<{ readonly served: Served; readonly againMs: number }>;
  readonly membership: MembershipOptions & { readonly index: HostIndex };
  /** Asks the API server for the hosts of the cluster: the watch may be late. */
  readonly listHosts: (signal: AbortSignal) => Promise<readonly BareMetalHost[]>;
}

/** Finalizer of `kubectl delete --cascade=foreground`: Kubernetes deletes the services itself. */
const FOREGROUND = "foregroundDeletion";
/** How often Landfall asks whether services are gone that are not watched. */
const REMOVAL_CHECK_MS = 2_000;
/** Services that are gone only after this are named in the status: something may hold them. */
const REMOVAL_MS_MAX = 60_000;

/**
 * Goes one step on with a deletion.
 *
 * @returns When to go on, if no change of hosts or services tells
 * @throws {KubeError} that is worth another try
 */
export async function release(
  cluster: SipCluster,
  options: ReleaseOptions,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { membership, services, writer } = options;
  const { index } = membership;
  const force = cluster.metadata.annotations?.[FORCE_RELEASE];
  const isForced = force === "true";
  const holds = isForced ? [] : await findHolds(cluster, options, signal);
  if (holds.length > 0) return await keep(cluster, describeKept(holds, force), options, signal);
  const left = await services.remove(cluster, signal);
  if (left.length > 0) return await waitForServices(cluster, left, options, signal);
  const { kept, isOvertaken } = await releaseAll(cluster, { isForced }, membership, signal);
  if (isOvertaken) throw new OvertakenError();
  if (kept.length > 0) {
    // They are in use since a moment ago. The next step makes their services again.
    const obstacle = describeKept(kept, force);
    writer.warn(cluster, EVENT_WORDS.releaseBlocked, obstacle);
    await writer.writeStatus(cluster, toDeleting(cluster, index, { obstacle }), signal);
    return {};
  }
  const { finalizers = [] } = cluster.metadata;
  const others = finalizers.filter((one) => one !== FINALIZER);
  await writer.setFinalizers(cluster, others, signal);
  return {};
}

/** What a status says of a cluster that is being deleted. */
export function toDeleting(
  cluster: SipCluster,
  index: Pick<HostIndex, "listOf">,
  more: Pick<Extract<Outcome, { kind: "deleting" }>, "obstacle" | "served"> = {},
): Outcome {
  const hosts = Array.from(index.listOf(toKey(cluster)), ({ key, claim }): Member => {
    const { role, standby = false } = claim ?? {};
    return { key, standby, ...(role && { role }) };
  });
  return { kind: "deleting", hosts, ...more };
}

/** The hosts that stop the deletion. Only if the watch shows none, the API server is asked, too. */
async function findHolds(
  cluster: SipCluster,
  { membership: { index }, listHosts }: ReleaseOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const seen = [...index.listOf(toKey(cluster))].flatMap(({ key }) => index.find(key) ?? []);
  const holds = listHolds(seen);
  return holds.length > 0 ? holds : listHolds(await listHosts(signal));
}

/** Keeps what hosts in use need, and says which they are. */
async function keep(
  cluster: SipCluster,
  obstacle: string,
  { serve, writer, membership: { index } }: ReleaseOptions,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  writer.warn(cluster, EVENT_WORDS.releaseBlocked, obstacle);
  const checked = checkCluster(cluster);
  const isServed = checked.isValid && !cluster.metadata.finalizers?.includes(FOREGROUND);
  if (!isServed) {
    await writer.writeStatus(cluster, toDeleting(cluster, index, { obstacle }), signal);
    return {};
  }
  const { served, againMs } = await serve(checked.spec, signal);
  await writer.writeStatus(cluster, toDeleting(cluster, index, { obstacle, served }), signal);
  return { requeueAfterMs: againMs };
}

async function waitForServices(
  cluster: SipCluster,
  left: readonly string[],
  { clock, writer, membership: { index } }: ReleaseOptions,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const sinceMs = clock.now() - Date.parse(cluster.metadata.deletionTimestamp ?? "");
  const obstacle = `Landfall waits until these are gone: ${left.join(", ")}`;
  const isLate = sinceMs > REMOVAL_MS_MAX;
  const outcome = toDeleting(cluster, index, isLate ? { obstacle } : {});
  await writer.writeStatus(cluster, outcome, signal);
  return { requeueAfterMs: REMOVAL_CHECK_MS };
}

/** Hosts in one page of a list. */
const PAGE_LENGTH = 500;

/**
 * The hosts with the labels of a cluster, as the API server has them now.
 *
 * @throws {KubeError} if the API server does not say
 */
export async function listHostsOf(
  cluster: Key,
  client: Pick<KubeClient, "list">,
  signal: AbortSignal,
): Promise<readonly BareMetalHost[]> {
  const [namespace = "", name = ""] = cluster.split("/");
  const labelSelector = `${CLUSTER_NAMESPACE}=${namespace},${CLUSTER_NAME}=${name}`;
  const query = { labelSelector, limit: PAGE_LENGTH };
  const { items } = await listAll(client, BARE_METAL_HOSTS, query, signal);
  return items
    .filter((host) => findDamage(BARE_METAL_HOSTS, host) === undefined)
    .map((host) => trimObject(BARE_METAL_HOSTS, host));
}
