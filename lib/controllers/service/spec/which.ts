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

/** Which Services Landfall serves, by their class. */
export interface ServedClasses {
  readonly ownClass?: string | undefined;
  /** Whether it serves Services without a class. */
  readonly servesClassless: boolean;
}

/** Whether a Service asks for a load balancer of this controller. */
export function isWanted({ spec }: Service, { ownClass, servesClassless }: ServedClasses): boolean {
  const loadBalancerClass = spec?.loadBalancerClass ?? undefined;
  const isOurs = loadBalancerClass === undefined ? servesClassless : loadBalancerClass === ownClass;
  return spec?.type === "LoadBalancer" && isOurs;
}

/** Whether Kubernetes or its type says that a Service must lose its load balancer. */
export function needsCleanup(service: Service): boolean {
  return hasCloudLoadBalancer(service) && (isBeingDeleted(service) || !isLoadBalancer(service));
}

/** What the needs of Services depend on besides themselves. */
interface NeedOptions {
  readonly classes: ServedClasses;
  /** Whether this process made its load balancer, and has not released it since. */
  readonly isManaged: boolean;
  /** Whether load balancers leave nothing behind: a Service keeps its own until it is gone, without a finalizer. */
  readonly leavesNothingBehind: boolean;
}

/** Decides what a Service needs. */
export function findNeed(service: Service, options: NeedOptions): ServiceNeed {
  const { classes, isManaged, leavesNothingBehind } = options;
  if (needsCleanup(service)) return "release";
  const isLeaving = isBeingDeleted(service) && !leavesNothingBehind;
  if (isWanted(service, classes) && !isLeaving) return "ensure";
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
