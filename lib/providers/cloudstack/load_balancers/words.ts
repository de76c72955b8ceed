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

const PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer";

/** Annotations of a Service. Those of the Go provider keep its names. */
export const ANNOTATIONS: Readonly<
  Record<
    | "proxyProtocol"
    | "hostname"
    | "sourceCidrs"
    | "isAssociated"
    | "stickinessMethod"
    | "stickinessParams",
    string
  >
> = {
  proxyProtocol: `${PREFIX}-proxy-protocol`,
  hostname: `${PREFIX}-hostname`,
  sourceCidrs: `${PREFIX}-source-cidrs`,
  /** Written by version 1.x of the Go provider: it took the address that `spec.loadBalancerIP` names. */
  isAssociated: `${PREFIX}-ip-associated-by-controller`,
  stickinessMethod: `${PREFIX}-stickiness-method-name`,
  stickinessParams: `${PREFIX}-stickiness-method-param`,
};

/** Description of the stickiness policies that Landfall makes. */
export const POLICY_DESCRIPTION = "Managed by Landfall";
const APACHE = "Managed by the CloudStack Kubernetes Provider";

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

/** Whether tags say that an address belongs to this cluster. */
export function isOfCluster(
  tags: ReadonlyMap<string, string>,
  clusterIds: readonly string[],
): boolean {
  const cluster = tags.get(TAG_KEYS.cluster);
  return cluster !== undefined && clusterIds.includes(cluster);
}

/** Whether tags say that an address belongs to a Service of this cluster. */
export function isTaggedFor(
  tags: ReadonlyMap<string, string>,
  clusterIds: readonly string[],
  uid: string,
): boolean {
  return isOfCluster(tags, clusterIds) && tags.get(TAG_KEYS.serviceUid) === uid;
}

/** Whether tags say that an address belongs to any Service, of any cluster. */
export function isTagged(tags: ReadonlyMap<string, string>): boolean {
  return tags.has(TAG_KEYS.cluster) || tags.has(TAG_KEYS.serviceUid);
}

/** Description of the load-balancer rules that Landfall makes. */
export function describeRule({ namespace, name }: LoadBalancerOwner): string {
  return `${POLICY_DESCRIPTION} for ${namespace}/${name}`;
}

/** Whether a rule with the name of a Service is of version 1.x of the Go provider, which wrote no description. */
export function isOf1x(description: string | undefined): boolean {
  return description === undefined || description === "";
}

/** Reason of the ACL items that Landfall makes for a load balancer. */
export function toAclReason(lbName: string): string {
  return `${POLICY_DESCRIPTION} for ${lbName}`;
}

/** Whether an ACL item belongs to a load balancer, by its reason. */
export function isAclReasonOf(lbName: string, reason: string | undefined): boolean {
  return reason === toAclReason(lbName) || reason === `${APACHE} for ${lbName}`;
}

/** Whether an ACL item belongs to some load balancer of Kubernetes, by its reason. */
export function isAclReason(reason: string | undefined): boolean {
  return [POLICY_DESCRIPTION, APACHE].some((maker) => reason?.startsWith(`${maker} for `));
}

/** Whether a stickiness policy was made for a Service, by its description. */
export function isPolicyDescription(text: string | undefined): boolean {
  return text === POLICY_DESCRIPTION || text === APACHE;
}
