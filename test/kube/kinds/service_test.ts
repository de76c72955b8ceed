/**
 * Which Services need a load balancer of the cloud, and what of them is kept.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { hasCloudLoadBalancer, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { findDamage, trimObject } from "../../../lib/kube/kinds/resource.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

test.each<[string, unknown, boolean]>([
  ["without finalizers", undefined, false],
  ["with others", ["example.org/mine"], false],
  ["with that of load balancers", ["a", FINALIZER], true],
  ["with a damaged field", FINALIZER, false],
])("hasCloudLoadBalancer() of a Service %s", (_what, finalizers, expected) => {
  const metadata: object = { name: "web", namespace: "default", finalizers };
  const service = { metadata, spec: { type: "LoadBalancer" } };
  const trimmed = trimObject(SERVICES, JSON.parse(JSON.stringify(service)));
  expect(hasCloudLoadBalancer(trimmed)).toBe(expected);
});

const READ = {
  "landfall.dev/address-pool": "a",
  "service.beta.kubernetes.io/load-balancer-source-ranges": "192.0.2.0/24",
  "kube-vip.io/loadbalancerIPs": "192.0.2.1",
};

describe("a store of Services", () => {
  const ports = [{ port: 80, protocol: "TCP", nodePort: 30_080 }];
  const copy = "kubectl.kubernetes.io/last-applied-configuration";
  const metadata = {
    name: "web",
    namespace: "a",
    annotations: { [copy]: "{}", mine: "1", ...READ },
  };

  test("keeps what decides about a load balancer", () => {
    const ingress = [{ ip: "192.0.2.1", ipMode: "VIP" }];
    const spec = { type: "LoadBalancer", ports, loadBalancerClass: "a/b", selector: { a: "1" } };
    const status = { loadBalancer: { ingress }, conditions: [] };
    const { selector: _dropped, ...kept } = spec;
    expect(trimObject(SERVICES, { metadata, spec, status })).toEqual({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "a", annotations: READ },
      spec: kept,
      status: { loadBalancer: { ingress } },
    });
  });

  test("keeps the type of all others, and no empty status", () => {
    const spec = { type: "ClusterIP", ports, clusterIP: "10.96.0.1" };
    const trimmed = trimObject(SERVICES, { metadata, spec, status: { loadBalancer: {} } });
    expect([trimmed.spec, trimmed.status]).toEqual([{ type: "ClusterIP" }, undefined]);
  });
});

test.each<[string, unknown]>([
  ["spec", { spec: [] }],
  ["status", { status: "x" }],
  ["spec.type", { spec: { type: 1 } }],
  ["spec.ports", { spec: { ports: {} } }],
  ["spec.ports", { spec: { ports: [{}] } }],
  ["spec.ports", { spec: { ports: [{ port: "80" }] } }],
  ["spec.ports", { spec: { ports: [{ port: 80, nodePort: "1" }] } }],
  ["spec.loadBalancerSourceRanges", { spec: { loadBalancerSourceRanges: [1] } }],
  [
    "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
    { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: "1" } } } },
  ],
  ["spec.ipFamilies", { spec: { ipFamilies: "IPv4" } }],
  ["status.loadBalancer", { status: { loadBalancer: [] } }],
  ["status.loadBalancer.ingress", { status: { loadBalancer: { ingress: [{ ip: 1 }] } } }],
])("findDamage() of a Service names %s", (path, rest) => {
  const service = { metadata: { name: "web" }, ...Object(rest) };
  expect(findDamage(SERVICES, service)).toBe(`${path} has a wrong type`);
});

test("findDamage() of a Service finds nothing wrong with what is absent or null", () => {
  const metadata = { name: "web", finalizers: null };
  const spec = { type: "ExternalName", ports: null, sessionAffinityConfig: { clientIP: null } };
  expect(findDamage(SERVICES, { metadata, spec, status: { loadBalancer: null } })).toBeUndefined();
  expect(findDamage(SERVICES, { metadata })).toBeUndefined();
});
