import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  listActual,
  listParts,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/parts.ts";
import { plan } from "../../../../../lib/providers/cloudstack/load_balancers/plan/plan.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import {
  converge,
  createCloud,
  HTTP,
  HTTPS,
  type KINDS,
  toBackend,
  toSpec,
} from "../cloud/services.ts";

/** The parts of a Service after a change that was not applied yet, one a line. */
function show(kind: keyof typeof KINDS, change: Partial<LoadBalancerSpec>): readonly string[] {
  const cloud = createCloud(kind);
  const { ingress } = converge(cloud, toSpec({ sourceRanges: ["10.0.0.0/8"] }));
  const { parts } = plan(cloud.view(), toSpec({ ingress, ...change }));
  return parts.map((one) => `${one.kind} ${one.name}: ${one.wanted ?? "-"} / ${one.actual ?? "-"}`);
}

for (const kind of ["firewall", "tier", "open"] as const) {
  test(`the debug page shows what is wanted beside what is there, in a network of kind ${kind}`, () => {
    expect(show(kind, { ports: [HTTPS], backends: [toBackend(1)] })).toEqual([
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      "rule tcp 443: tcp to node port 30443, roundrobin / -",
      "clients tcp 443: 0.0.0.0/0 / -",
      "backends tcp 443: 1 / -",
      "rule tcp 80 on 192.0.2.10: - / tcp to node port 30080, roundrobin",
    ]);
    expect(show(kind, { backends: [toBackend(1)] }).slice(1)).toEqual([
      "rule tcp 80: tcp to node port 30080, roundrobin / tcp to node port 30080, roundrobin",
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 1 / 2",
    ]);
  });
}

test("the debug page shows what a Service has, also while nothing can be planned for it", () => {
  expect(show("firewall", { ports: [] })).toEqual([
    "address 192.0.2.10: - / 192.0.2.10",
    "rule tcp 80 on 192.0.2.10: - / tcp to node port 30080, roundrobin",
  ]);
});

test("listParts() and listActual() name the address that goes, too", () => {
  const cloud = createCloud();
  const { ingress } = converge(cloud, toSpec());
  const spec = toSpec({ ingress, ports: [HTTP] });
  const scene = toScene(cloud.view(), spec);
  const { wanted } = toWanted(spec);
  const [address] = cloud.addresses.values();
  if (wanted === undefined || address === undefined) throw new Error("not wanted");
  const other = cloud.addAddress({ ip: "192.0.2.11", networkId: "net-1" });
  const site = { scene, wanted, address, gate: { kind: "firewall" }, backendCount: 2 } as const;
  expect(listParts(site, [other]).at(-1)).toEqual({
    kind: "address",
    name: "192.0.2.11",
    actual: "192.0.2.11",
  });
  expect(listActual(scene, [address])).toHaveLength(2);
});
