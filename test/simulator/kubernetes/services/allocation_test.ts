import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { ServiceAllocation } from "../../../../lib/simulator/kubernetes/services/allocation.ts";
import { Collection, VersionCounter } from "../../../../lib/simulator/kubernetes/store.ts";

const RANGES = { clusterIps: ["10.96.0.0/30", "fd00::/126"], nodePorts: [30_000, 30_002] } as const;

function start(ranges: ConstructorParameters<typeof ServiceAllocation>[1] = RANGES): {
  readonly allocation: ServiceAllocation;
  readonly put: (name: string, spec: JsonObject) => void;
  readonly remove: (name: string) => void;
} {
  const services = new Collection(new VersionCounter(), 100);
  const allocation = new ServiceAllocation(services, ranges);
  const put = (name: string, spec: JsonObject): void => {
    services.put(name, (resourceVersion) => ({
      metadata: { name, uid: name, resourceVersion, creationTimestamp: "" },
      spec,
    }));
  };
  return { allocation, put, remove: (name) => services.remove(name) };
}

test("withClusterIps() gives a free address of each family, and none that is taken", () => {
  const { allocation, put, remove } = start();
  expect(allocation.families).toEqual(["IPv4", "IPv6"]);
  const give = (): unknown =>
    allocation.withClusterIps({ spec: {} }, ["IPv4", "IPv6"], undefined).service["spec"];
  expect(give()).toEqual({ clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1", "fd00::1"] });
  put("a", { clusterIPs: ["10.96.0.2", "fd00::2"] });
  expect(give()).toEqual({ clusterIP: "10.96.0.3", clusterIPs: ["10.96.0.3", "fd00::3"] });
  put("b", { clusterIPs: ["10.96.0.1", "10.96.0.3"] });
  expect(give).toThrow("range is full");
  remove("a");
  expect(give()).toMatchObject({ clusterIP: "10.96.0.2" });
});

test("withClusterIps() leaves a headless Service and an address of its own", () => {
  const { allocation, put } = start();
  const headless = { spec: { clusterIP: "None", clusterIPs: ["None"] } };
  expect(allocation.withClusterIps(headless, ["IPv4"], undefined).service).toEqual(headless);
  const own = { spec: { clusterIP: "10.96.0.2", clusterIPs: ["10.96.0.2"] } };
  put("a", own.spec);
  expect(allocation.withClusterIps(own, ["IPv4"], own)).toEqual({ service: own, problems: [] });
  expect(allocation.withClusterIps(own, ["IPv4"], undefined).problems).toMatchObject([
    { field: "spec.clusterIPs", message: expect.stringContaining("already allocated") },
  ]);
});

test("withNodePorts() gives free ports, one for both protocols, and one for health checks", () => {
  const { allocation, put } = start();
  const ports = [
    { name: "a", port: 80, protocol: "TCP" },
    { name: "b", port: 80, protocol: "UDP" },
  ];
  const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports };
  const { service } = allocation.withNodePorts({ spec }, undefined);
  expect(service["spec"]).toMatchObject({
    ports: [{ nodePort: 30_000 }, { nodePort: 30_000 }],
    healthCheckNodePort: 30_001,
  });
  put("a", { ports: [{ nodePort: 30_000 }], healthCheckNodePort: 30_001 });
  const one = { spec: { type: "NodePort", ports: [{ port: 80 }] } };
  const next = allocation.withNodePorts(one, undefined).service["spec"];
  expect(next).toMatchObject({ ports: [{ nodePort: 30_002 }] });
  put("b", { ports: [{ nodePort: 30_002 }] });
  expect(() => allocation.withNodePorts(one, undefined)).toThrow("range is full");
  const none = { spec: { ...one.spec, allocateLoadBalancerNodePorts: false } };
  expect(allocation.withNodePorts(none, undefined).service).toEqual(none);
});

test("withNodePorts() refuses ports that are taken or out of range, but not those of the Service itself", () => {
  const { allocation, put } = start();
  const named = (nodePort: number): JsonObject => ({
    spec: { type: "NodePort", ports: [{ port: 80, nodePort }] },
  });
  put("a", { ports: [{ nodePort: 30_000 }] });
  expect(allocation.withNodePorts(named(30_000), undefined).problems).toHaveLength(1);
  expect(allocation.withNodePorts(named(80), undefined).problems).toHaveLength(1);
  expect(allocation.withNodePorts(named(30_000), named(30_000)).problems).toEqual([]);
});

test("a range that is none is refused", () => {
  expect(() => start({ ...RANGES, clusterIps: ["a"] })).toThrow("Cannot read range");
});
