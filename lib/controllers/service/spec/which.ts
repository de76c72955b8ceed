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

/**
 * Decides what a Service needs.
 *
 * @param options.ownClass The class that Landfall serves besides Services without one
 * @param options.isManaged Whether this process wanted it before, and has not released it since
 */
export function findNeed(
  service: Service,
  options: { readonly ownClass: string | undefined; readonly isManaged: boolean },
): ServiceNeed {
  const { ownClass, isManaged } = options;
  if (needsCleanup(service)) return "release";
  const isOver = isBeingDeleted(service) || !isWanted(service, ownClass);
  // A user removed the finalizer, or the class is new since this process saw the Service.
  if (isOver && isManaged) return "release";
  if (!isOver) return "ensure";
  const hasRecord = service.metadata.annotations?.[RECORD] !== undefined;
  return isLoadBalancer(service) && hasCloudLoadBalancer(service) && hasRecord
    ? "conflict"
    : "nothing";
}

function isBeingDeleted({ metadata }: Service): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isLoadBalancer({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer";
}
