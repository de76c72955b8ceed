/**
 * Which Services need a load balancer of the cloud.
 * @module
 */
import { expect, test } from "bun:test";
import { hasCloudLoadBalancer, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { trimObject } from "../../../lib/kube/kinds/trim.ts";

test.each<[string, unknown, boolean]>([
  ["without finalizers", undefined, false],
  ["with others", ["example.org/mine"], false],
  ["with that of load balancers", ["a", "service.kubernetes.io/load-balancer-cleanup"], true],
  ["with a damaged field", "service.kubernetes.io/load-balancer-cleanup", false],
])("hasCloudLoadBalancer() of a Service %s", (_what, finalizers, expected) => {
  const metadata: object = { name: "web", namespace: "default", finalizers };
  const service = { metadata, spec: { type: "LoadBalancer" }, status: { loadBalancer: {} } };
  const trimmed = trimObject(SERVICES, JSON.parse(JSON.stringify(service)));
  expect(hasCloudLoadBalancer(trimmed)).toBe(expected);
  expect([trimmed.spec, trimmed.status]).toEqual([undefined, undefined]);
});
