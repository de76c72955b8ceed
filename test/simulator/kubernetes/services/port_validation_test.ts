import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";
import { portProblems } from "../../../../lib/simulator/kubernetes/services/port_validation.ts";

const GOOD = { port: 80, protocol: "TCP", targetPort: 80 };

function find(spec: JsonObject, minor: number = 35): readonly string[] {
  return portProblems({ spec }, toServiceFeatures(minor)).map(({ field }) => field);
}

test.each<[string, JsonObject, readonly string[]]>([
  ["one", { ports: [GOOD] }, []],
  ["a named target", { ports: [{ ...GOOD, targetPort: "http-1" }] }, []],
  [
    "a target of digits only",
    { ports: [{ ...GOOD, targetPort: "80" }] },
    ["spec.ports[0].targetPort"],
  ],
  ["none", { type: "LoadBalancer" }, ["spec.ports"]],
  ["none of a headless Service", { clusterIPs: ["None"] }, []],
  ["none of a name", { type: "ExternalName" }, []],
  [
    "two with one node port",
    {
      type: "NodePort",
      ports: [
        { ...GOOD, name: "a", nodePort: 30_000 },
        { ...GOOD, name: "b", port: 81, nodePort: 30_000 },
      ],
    },
    ["spec.ports[1].nodePort"],
  ],
])("portProblems() of %s: %j", (_title, spec, expected) => {
  expect(find(spec)).toEqual([...expected]);
});

test.each([
  [23, ["spec.ports"]],
  [24, []],
])("portProblems() of two protocols of a load balancer on 1.%d are %j", (minor, expected) => {
  const udp = { ...GOOD, name: "b", protocol: "UDP" };
  const ports = [{ ...GOOD, name: "a" }, udp];
  expect(find({ type: "LoadBalancer", ports }, minor)).toEqual(expected);
  expect(find({ type: "ClusterIP", ports }, minor)).toEqual([]);
});
