/**
 * What an API server does with Services by its version, with its default feature gates.
 *
 * Source: kubernetes.io "Feature Gates (removed)" and the registry strategy of Services.
 * The contract tests compare 1.20 with a real one.
 * @module
 */

/** The minor version that the simulator is written for: Kubernetes 1.35. */
export const NEWEST_MINOR = 35;

/** What differs between versions. */
export interface ServiceFeatures {
  /** It has `ipFamilies` and `ipFamilyPolicy`; an update that leaves out what was allocated keeps it. From 1.21. */
  readonly hasFamilies: boolean;
  /** It has `loadBalancerClass`, `allocateLoadBalancerNodePorts` and `internalTrafficPolicy`. From 1.22. */
  readonly hasClass: boolean;
  /** A load balancer may have several protocols, and a Service that gets another type loses its ingress. From 1.24. */
  readonly mixesProtocols: boolean;
  /** It has `ipMode`, and only load balancers may have an ingress. From 1.30; alpha and off in 1.29. */
  readonly hasIpMode: boolean;
}

/** The features of Kubernetes 1.`minor`. */
export function toServiceFeatures(minor: number): ServiceFeatures {
  return {
    hasFamilies: minor >= 21,
    hasClass: minor >= 22,
    mixesProtocols: minor >= 24,
    hasIpMode: minor >= 30,
  };
}
