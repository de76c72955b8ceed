import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";
import {
  dropUseless,
  keepAllocated,
} from "../../../../lib/simulator/kubernetes/services/updates.ts";

const BEFORE = {
  type: "LoadBalancer",
  clusterIP: "10.96.0.5",
  clusterIPs: ["10.96.0.5"],
  ports: [{ name: "a", port: 80, nodePort: 30_001 }],
  externalTrafficPolicy: "Local",
  healthCheckNodePort: 30_002,
} as const;

test.each<[string, JsonObject, JsonObject]>([
  [
    "nothing but a port",
    { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ name: "a", port: 81 }] },
    { ...BEFORE, ports: [{ name: "a", port: 81, nodePort: 30_001 }] },
  ],
  [
    "a port of another name",
    { ...BEFORE, ports: [{ name: "b", port: 80 }] },
    { ...BEFORE, ports: [{ name: "b", port: 80 }] },
  ],
  [
    "another port with the same node port",
    {
      ...BEFORE,
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81, nodePort: 30_001 },
      ],
    },
    {
      ...BEFORE,
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81, nodePort: 30_001 },
      ],
    },
  ],
  ["another type", { type: "ExternalName" }, { type: "ExternalName" }],
])("keepAllocated() keeps what an update leaves out that names %s", (_title, after, expected) => {
  expect(keepAllocated({ spec: BEFORE }, { spec: after })).toEqual({ spec: expected });
});

test.each<[string, JsonObject, JsonObject]>([
  ["the same", BEFORE, BEFORE],
  [
    "policy Cluster",
    { ...BEFORE, externalTrafficPolicy: "Cluster" },
    {
      type: "LoadBalancer",
      clusterIP: "10.96.0.5",
      clusterIPs: ["10.96.0.5"],
      ports: BEFORE.ports,
      externalTrafficPolicy: "Cluster",
    },
  ],
  [
    "type ClusterIP",
    { ...BEFORE, type: "ClusterIP" },
    {
      type: "ClusterIP",
      clusterIP: "10.96.0.5",
      clusterIPs: ["10.96.0.5"],
      ports: [{ name: "a", port: 80 }],
    },
  ],
  [
    "type ExternalName",
    { ...BEFORE, type: "ExternalName", ports: [] },
    { type: "ExternalName", ports: [] },
  ],
])("dropUseless() drops what is of no use for %s", (_title, after, expected) => {
  const dropped = dropUseless({ spec: BEFORE }, { spec: after }, toServiceFeatures(20));
  expect(dropped).toEqual({ spec: expected });
});

test("dropUseless() keeps what the update itself changed, for a refusal", () => {
  const after = { ...BEFORE, type: "ClusterIP", healthCheckNodePort: 30_009 };
  const { spec } = dropUseless({ spec: BEFORE }, { spec: after }, toServiceFeatures(20));
  expect(spec).toMatchObject({ healthCheckNodePort: 30_009 });
});

test("dropUseless() takes the second family of a Service that becomes single-stack", () => {
  const dual = { type: "ClusterIP", ipFamilyPolicy: "PreferDualStack" };
  const rest = { ipFamilies: ["IPv4", "IPv6"], clusterIPs: ["10.96.0.5", "fd00::5"] };
  const after = { spec: { ...dual, ...rest, ipFamilyPolicy: "SingleStack" } };
  const { spec } = dropUseless({ spec: { ...dual, ...rest } }, after, toServiceFeatures(35));
  expect(spec).toMatchObject({ ipFamilies: ["IPv4"], clusterIPs: ["10.96.0.5"] });
});
