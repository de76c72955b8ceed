/**
 * Services for tests.
 * @module
 */
import type { Service } from "../../../lib/kube/kinds/service.ts";

/** A Service of type LoadBalancer with one port; what is given replaces the rest, field by field. */
export function toService(
  input: {
    readonly metadata?: Partial<Service["metadata"]>;
    readonly spec?: Service["spec"];
    readonly status?: Service["status"];
  } = {},
): Service {
  const { metadata, spec, status } = input;
  return {
    metadata: { name: "shop", namespace: "web", uid: "uid-1", resourceVersion: "1", ...metadata },
    spec: {
      type: "LoadBalancer",
      ports: [{ port: 80, protocol: "TCP", nodePort: 30_080 }],
      ...spec,
    },
    ...(status && { status }),
  };
}

/** The finalizer of load balancers. */
export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
