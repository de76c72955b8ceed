/**
 * Decides which Services get a load balancer, and which lose theirs. Pure.
 * @module
 */
import { hasCloudLoadBalancer, type Service } from "../../../kube/kinds/service.ts";
import { RECORD } from "../words.ts";

/**
 * What a Service needs.
 *
 * - `ensure`: a load balancer as its fields say
 * - `release`: what Landfall made for it must go, then the finalizer
 * - `conflict`: it has what Landfall made, and a class that Landfall does not serve. The class of a Service cannot
 *   change, but the flag of Landfall can. So nothing is done
 * - `nothing`
 */
export type ServiceNeed = "ensure" | "release" | "conflict" | "nothing";

/** Whether a Service asks for a load balancer of this controller: without a class, or with the class of the flag. */
export function isWanted({ spec }: Service, ownClass: string | undefined): boolean {
  const loadBalancerClass = spec?.loadBalancerClass ?? undefined;
  const isOurs = loadBalancerClass === undefined || loadBalancerClass === ownClass;
  return spec?.type === "LoadBalancer" && isOurs;
}

/** Whether Kubernetes or its type says that a Service must lose its load balancer. */
export function needsCleanup(service: Service): boolean {
  return hasCloudLoadBalancer(service) && (isBeingDeleted(service) || !isLoadBalancer(service));
}

/** What the needs of Services depend on besides themselves. */
interface NeedOptions {
  /** The class that Landfall serves besides Services without one. */
  readonly ownClass: string | undefined;
  /** Whether this process made its load balancer, and has not released it since. */
  readonly isManaged: boolean;
  /** Whether load balancers leave nothing behind: a Service keeps its own until it is gone, without a finalizer. */
  readonly leavesNothingBehind: boolean;
}

/** Decides what a Service needs. */
export function findNeed(service: Service, options: NeedOptions): ServiceNeed {
  const { ownClass, isManaged, leavesNothingBehind } = options;
  if (needsCleanup(service)) return "release";
  const isLeaving = isBeingDeleted(service) && !leavesNothingBehind;
  if (isWanted(service, ownClass) && !isLeaving) return "ensure";
  // A user removed the finalizer, or the class is new since this process saw the Service.
  if (isManaged) return "release";
  const hasRecord = service.metadata.annotations?.[RECORD] !== undefined;
  const isOurs = hasRecord && (leavesNothingBehind || hasCloudLoadBalancer(service));
  if (!isOurs) return "nothing";
  return isLoadBalancer(service) ? "conflict" : "release";
}

/**
 * Whether a Service may have a load balancer although Landfall has nothing to do for it: another controller may, or
 * Landfall with another class.
 */
export function mayHold(service: Service): boolean {
  return hasCloudLoadBalancer(service) || (isLoadBalancer(service) && !isBeingDeleted(service));
}

function isBeingDeleted({ metadata }: Service): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isLoadBalancer({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer";
}
