import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";
import {
  ingressProblems,
  serviceProblems,
} from "../../../../lib/simulator/kubernetes/services/validation.ts";

const SPEC = {
  type: "LoadBalancer",
  ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
  sessionAffinity: "None",
  clusterIPs: ["10.96.0.5"],
} as const;
const NEW = toServiceFeatures(35);

function find(spec: JsonObject, before?: JsonObject): readonly string[] {
  const metadata = { name: "a" };
  const old = before === undefined ? undefined : { metadata, spec: before };
  return serviceProblems({ metadata, spec }, old, NEW).map(({ field }) => field);
}

test.each<[string, JsonObject, JsonObject | undefined, readonly string[]]>([
  ["a good one", SPEC, undefined, []],
  ["a range of IPv6", { ...SPEC, loadBalancerSourceRanges: ["2001:db8::/32"] }, undefined, []],
  [
    "a range that is an address",
    { ...SPEC, loadBalancerSourceRanges: ["192.0.2.1"] },
    undefined,
    ["spec.loadBalancerSourceRanges"],
  ],
  ["a class", { ...SPEC, loadBalancerClass: "example.com/a" }, undefined, []],
  ["a bad class", { ...SPEC, loadBalancerClass: "a b" }, undefined, ["spec.loadBalancerClass"]],
  [
    "a class of another type",
    { ...SPEC, type: "ClusterIP", loadBalancerClass: "a" },
    undefined,
    ["spec.loadBalancerClass"],
  ],
  [
    "a class that comes later",
    { ...SPEC, loadBalancerClass: "a" },
    SPEC,
    ["spec.loadBalancerClass"],
  ],
  [
    "a class that comes with the type",
    { ...SPEC, loadBalancerClass: "a" },
    { type: "ClusterIP" },
    [],
  ],
  ["another cluster IP", { ...SPEC, clusterIPs: ["10.96.0.6"] }, SPEC, ["spec.clusterIPs[0]"]],
])("serviceProblems() of %s", (_title, spec, before, expected) => {
  expect(find(spec, before)).toEqual([...expected]);
});

test.each<[string, JsonObject, readonly string[]]>([
  ["LoadBalancer", { ip: "192.0.2.1", ipMode: "VIP" }, []],
  ["LoadBalancer", { ip: "2001:db8::1", ipMode: "Proxy" }, []],
  ["LoadBalancer", { hostname: "a.example" }, []],
  ["LoadBalancer", { hostname: "a.example", ipMode: "VIP" }, ["[0].ipMode"]],
  ["LoadBalancer", { ip: "192.0.2.1", ipMode: "vip" }, ["[0].ipMode"]],
  ["NodePort", { ip: "192.0.2.1" }, [""]],
])("ingressProblems() of a %s with %j: %j", (type, entry, expected) => {
  const service = { spec: { type }, status: { loadBalancer: { ingress: [entry] } } };
  const fields = ingressProblems(service, NEW).map(({ field }) => field);
  expect(fields).toEqual(expected.map((end) => `status.loadBalancer.ingress${end}`));
});
