/**
 * Which Services may have a load balancer now, for a cloud that has found something which was made for one of them.
 * @module
 */

/** A Service that may have a load balancer, made by this or another controller. */
export interface LoadBalancerHolder {
  readonly owner: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Whether it is losing its load balancer: it is being deleted, or its type has changed. */
  readonly isLeaving: boolean;
}

/**
 * Finds the Service with a UID that a test accepts, if it may have a load balancer. Only an answer in memory, about
 * now: call it again.
 */
export type FindHolder = (isIt: (uid: string) => boolean) => LoadBalancerHolder | undefined;
