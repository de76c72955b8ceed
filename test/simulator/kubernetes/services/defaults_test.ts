import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { withDefaults } from "../../../../lib/simulator/kubernetes/services/defaults.ts";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";

const PORT = { protocol: "TCP", port: 80, targetPort: 80 };

test.each<[string, number, JsonObject, JsonObject]>([
  ["nothing", 20, {}, { type: "ClusterIP", sessionAffinity: "None" }],
  [
    "nothing, on a new server",
    35,
    {},
    { type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" },
  ],
  [
    "an external name",
    35,
    { type: "ExternalName", externalName: "a" },
    { type: "ExternalName", externalName: "a", sessionAffinity: "None" },
  ],
  [
    "a load balancer",
    35,
    { type: "LoadBalancer", ports: [{ port: 80 }] },
    {
      type: "LoadBalancer",
      ports: [PORT],
      sessionAffinity: "None",
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
      allocateLoadBalancerNodePorts: true,
    },
  ],
  [
    "affinity",
    20,
    { sessionAffinity: "ClientIP" },
    {
      type: "ClusterIP",
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    },
  ],
  [
    "affinity with its time",
    20,
    { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 9 } } },
    {
      type: "ClusterIP",
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 9 } },
    },
  ],
  [
    "a time without affinity",
    20,
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 9 } } },
    { type: "ClusterIP", sessionAffinity: "None" },
  ],
  [
    "a target of 0 and a node port of 0",
    20,
    { type: "NodePort", ports: [{ port: 80, targetPort: 0, nodePort: 0 }] },
    { type: "NodePort", ports: [PORT], sessionAffinity: "None", externalTrafficPolicy: "Cluster" },
  ],
])("withDefaults() completes %s", (_title, minor, spec, expected) => {
  const features = toServiceFeatures(minor);
  const first = withDefaults({ spec }, features);
  expect(first).toEqual({ spec: expected, status: { loadBalancer: {} } });
  expect(withDefaults(first, features)).toEqual(first);
});

test.each<[number, string, JsonObject, JsonObject]>([
  [29, "LoadBalancer", { ip: "192.0.2.1" }, { ip: "192.0.2.1" }],
  [30, "LoadBalancer", { ip: "192.0.2.1" }, { ip: "192.0.2.1", ipMode: "VIP" }],
  [30, "LoadBalancer", { ip: "192.0.2.1", ipMode: "Proxy" }, { ip: "192.0.2.1", ipMode: "Proxy" }],
  [30, "LoadBalancer", { hostname: "a" }, { hostname: "a" }],
  [30, "NodePort", { ip: "192.0.2.1" }, { ip: "192.0.2.1" }],
])(
  "withDefaults() of 1.%d makes of the ingress of a %s: %j is %j",
  (minor, type, entry, expected) => {
    const service = { spec: { type }, status: { loadBalancer: { ingress: [entry] } } };
    const { status } = withDefaults(service, toServiceFeatures(minor));
    expect(status).toEqual({ loadBalancer: { ingress: [expected] } });
  },
);
