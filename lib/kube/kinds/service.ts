/**
 * Services, of which Landfall only reads which ones need a load balancer of the cloud.
 * @module
 */
import type { Kind } from "./kind.ts";
import type { KubeObject } from "./resource.ts";

/** A Service, reduced to the fields that Landfall reads. */
export interface Service extends KubeObject {
  /** Lists never keep it and `status`. */
  readonly spec?: undefined;
  readonly status?: undefined;
}

/** Services. */
export const SERVICES: Kind<Service> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  metadata: ["finalizers"],
  keepsAnnotation: () => false,
  keep: () => ({ spec: undefined, status: undefined }),
};

/**
 * The finalizer of a Service for which a cloud controller manager made a load balancer. Programs such as MetalLB do not
 * set it. Source: https://pkg.go.dev/k8s.io/cloud-provider/service/helpers
 */
export const LOAD_BALANCER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";

/** Whether a cloud made a load balancer for a Service, and must remove it again. */
export function hasCloudLoadBalancer({ metadata: { finalizers } }: Service): boolean {
  // It comes from the wire, unchecked.
  return Array.isArray(finalizers) && finalizers.includes(LOAD_BALANCER_CLEANUP);
}
