/**
 * Words that Landfall writes to CloudStack's objects, to Events, and the annotations that it reads. Frozen.
 * @module
 */
import type {
  LoadBalancerOwner,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";

import { OWN_PREFIX } from "../../../core/text/label.ts";

/** Keys of the tags of a public IP address. */
export const TAG_KEYS = {
  cluster: "landfall.dev/cluster",
  serviceUid: "landfall.dev/service-uid",
  /** `namespace/name`: says the namespace of a Service that is gone. */
  service: "landfall.dev/service",
  /** The namespaces with which a Service that is gone shared its address. */
  sharedWith: "landfall.dev/shared-with",
  /** The namespace whose Services may have the address next. One with this tag is never released. */
  keptFor: "landfall.dev/kept-for",
} as const;

const PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer";

/** Annotations of a Service. Those of the Go provider keep its names. */
export const ANNOTATIONS: Readonly<
  Record<
    | "proxyProtocol"
    | "hostname"
    | "sourceCidrs"
    | "isAssociated"
    | "address"
    | "keepAddress"
    | "keepIp"
    | "stickinessMethod"
    | "stickinessParams",
    string
  >
> = {
  proxyProtocol: `${PREFIX}-proxy-protocol`,
  hostname: `${PREFIX}-hostname`,
  sourceCidrs: `${PREFIX}-source-cidrs`,
  /** Of version 1.x of the Go provider: the address that `spec.loadBalancerIP` names was taken for the Service. */
  isAssociated: `${PREFIX}-ip-associated-by-controller`,
  /** Of Leaseweb's provider, which writes it on every Service that it serves. */
  address: `${PREFIX}-address`,
  keepAddress: `${OWN_PREFIX}keep-address`,
  /** The same in Leaseweb's provider. */
  keepIp: `${PREFIX}-keep-ip`,
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

/** Whether tags say that an address belongs to any Service, of any cluster, or is kept. */
export function isTagged(tags: ReadonlyMap<string, string>): boolean {
  return [TAG_KEYS.cluster, TAG_KEYS.serviceUid, TAG_KEYS.keptFor].some((key) => tags.has(key));
}

/** The namespace for which an address is kept; `undefined` for one that goes with its last Service. */
export function findKeptFor(tags: ReadonlyMap<string, string>): string | undefined {
  return tags.get(TAG_KEYS.keptFor);
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

/** What each reason means, for the documentation. */
export const PROBLEM_REASONS = {
  InvalidAnnotation: "An annotation has a value that Landfall does not understand.",
  UnsupportedService: "The Service asks for something that CloudStack's load balancers cannot do.",
  NetworkNotUsable: "The network of the Nodes cannot have the load balancer.",
  NodesInOtherNetworks: "Nodes are not in the network of the load balancer.",
  AddressNotUsable: "The public IP address that the Service names, or has, cannot be used.",
  AddressNotOurs:
    "Landfall leaves a public IP address alone, because it may belong to another user or Service.",
  AddressNotShared:
    "The Service is on an address that a Service of another namespace has and does not share.",
  AddressKept:
    "A public IP address stays: something else uses it, or it is kept for later Services.",
  PortInUse: "Another Service, or something else, uses a port that it needs.",
  SourceRangesNotPossible: "Clients cannot be restricted as the Service asks.",
  StickinessNotPossible: "Stickiness cannot be set as the Service asks.",
  UnreadableObject:
    "CloudStack shows an object that may be of this Service, and Landfall cannot read it.",
  NotKnown: "CloudStack did not show a part that the plan needs.",
} as const;

type ProblemReason = keyof typeof PROBLEM_REASONS;

/** A problem for which the Service must wait. */
export function toWaiting(reason: ProblemReason, message: string): LoadBalancerProblem {
  return { reason, message, isWaiting: true };
}

/** A problem that is only worth knowing. */
export function toNotice(reason: ProblemReason, message: string): LoadBalancerProblem {
  return { reason, message, isWaiting: false };
}

/** Whether a Service must wait for one of these. */
export function isWaiting(problems: readonly LoadBalancerProblem[]): boolean {
  return problems.some((one) => one.isWaiting ?? true);
}

/** Protocols of the rules that Landfall makes. */
export type RuleProtocol = "tcp" | "udp" | "tcp-proxy";

const LB_NAME_CHARS_MAX = 32;
/** `a` and a UID without dashes. */
const NAME = /^(a[^-]{1,31})-(?:(?:tcp|udp|tcp-proxy)-)?([1-9]\d{0,4})$/;

/** The name of a Service's load balancer: Kubernetes' default. Its last character does not fit. */
export function toLbName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, LB_NAME_CHARS_MAX);
}

/** Writes the name of the rule for one port of a Service. */
export function formatRuleName(lbName: string, protocol: RuleProtocol, port: number): string {
  return `${lbName}-${protocol}-${port}`;
}

/** The name of the load balancer in the name of a rule, of any cluster; `undefined` for any other name. */
export function parseLbName(ruleName: string): string | undefined {
  const [, lbName, port] = NAME.exec(ruleName) ?? [];
  return Number(port) <= 65_535 ? lbName : undefined;
}
