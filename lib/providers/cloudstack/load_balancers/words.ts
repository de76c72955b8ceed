/**
 * Words that Landfall writes to CloudStack's objects, and the annotations that it reads. Frozen: they must not change.
 * @module
 */
import type { LoadBalancerOwner } from "../../../cloud/capabilities/load_balancers.ts";

/** Keys of the tags of a public IP address. */
export const TAG_KEYS = {
  cluster: "landfall.dev/cluster",
  serviceUid: "landfall.dev/service-uid",
  /** Only for people. */
  service: "landfall.dev/service",
} as const;

/** Description of the stickiness policies that Landfall makes. */
export const POLICY_DESCRIPTION = "Managed by Landfall";

/** Tags of an address that belongs to a Service. */
export function toTags(
  clusterId: string,
  { namespace, name, uid }: LoadBalancerOwner,
): ReadonlyMap<string, string> {
  return new Map([
    [TAG_KEYS.cluster, clusterId],
    [TAG_KEYS.serviceUid, uid],
    [TAG_KEYS.service, `${namespace}/${name}`],
  ]);
}

/** Whether tags say that an address belongs to a Service of this cluster. */
export function isTaggedFor(
  tags: ReadonlyMap<string, string>,
  clusterIds: readonly string[],
  uid: string,
): boolean {
  const cluster = tags.get(TAG_KEYS.cluster);
  return (
    cluster !== undefined && clusterIds.includes(cluster) && tags.get(TAG_KEYS.serviceUid) === uid
  );
}
