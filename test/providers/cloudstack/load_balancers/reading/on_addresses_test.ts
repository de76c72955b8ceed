import { expect, test } from "bun:test";
import {
  listFirewallRulesFor,
  listFirewallRulesOn,
  listRulesOn,
} from "../../../../../lib/providers/cloudstack/load_balancers/reading/on_addresses.ts";
import { plan } from "../../../../../lib/providers/cloudstack/load_balancers/plan/plan.ts";
import { planRelease } from "../../../../../lib/providers/cloudstack/load_balancers/plan/release.ts";
import type { View } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER } from "../cloud/cloud_model.ts";
import { createCloud, DESCRIPTION, LB_NAME, OWNER, toSpec } from "../cloud/services.ts";

const toIds = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

test("rules are found by their address and port, in the order of their IDs", () => {
  const cloud = createCloud();
  const [a, b] = ["192.0.2.1", "192.0.2.2"].map(
    (ip) => cloud.addAddress({ ip, networkId: "net-1" }).id,
  );
  const toRule = (id: string, addressId = "", publicPort = 80): void => {
    cloud.addRule({ id, name: id, addressId, networkId: "net-1", publicPort });
  };
  toRule("r-2", a);
  toRule("r-1", a, 443);
  toRule("r-3", b);
  const view = cloud.view();
  const found = [
    listRulesOn(view, a ?? ""),
    listRulesOn(view, a ?? "", 80),
    listRulesOn(view, "x"),
  ];
  expect(found.map(toIds)).toEqual([["r-1", "r-2"], ["r-2"], []]);
  toRule("r-4", a);
  expect(toIds(listRulesOn(cloud.view(), a ?? "", 80))).toEqual(["r-2", "r-4"]);
});

test("firewall rules for exactly one port are told from those for several", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const { id: elsewhere } = cloud.addAddress({ ip: "192.0.2.2", networkId: "net-1" });
  cloud.addFirewallRule({ id: "f-5", addressId, protocol: "udp" });
  cloud.addFirewallRule({ id: "f-4", addressId });
  cloud.addFirewallRule({ id: "f-3", addressId, endPort: 81 });
  const { startPort: _, endPort: __, ...icmp } = cloud.addFirewallRule({ addressId: elsewhere });
  cloud.firewallRules.set("f-2", { ...icmp, id: "f-2", addressId, protocol: "icmp" });
  const view = cloud.view();
  const { exact, ranges } = listFirewallRulesFor(view, addressId, 80);
  expect([exact, ranges].map(toIds)).toEqual([
    ["f-4", "f-5"],
    ["f-2", "f-3"],
  ]);
  expect(toIds(listFirewallRulesOn(view, addressId))).toEqual(["f-2", "f-3", "f-4", "f-5"]);
  expect(toIds(listFirewallRulesFor(view, addressId, 81).exact)).toEqual([]);
});

/** A look at a Service that has a port for each node port, and the Service. */
function createLarge(): { readonly view: View; readonly spec: ReturnType<typeof toSpec> } {
  const cloud = createCloud();
  const tags = toTags(CLUSTER, OWNER);
  const { id: addressId, ip } = cloud.addAddress({ ip: "192.0.2.9", networkId: "net-1", tags });
  const ports = Array.from({ length: 2_768 }, (_, at) => ({
    protocol: "TCP" as const,
    port: at + 1,
    nodePort: 30_000 + at,
  }));
  for (const { port, nodePort } of ports) {
    const name = `${LB_NAME}-tcp-${port}`;
    const place = { addressId, networkId: "net-1", publicPort: port, privatePort: nodePort };
    const { id } = cloud.addRule({ name, description: DESCRIPTION, ...place });
    cloud.members.get(id)?.add("vm-1").add("vm-2");
    cloud.addFirewallRule({ addressId, startPort: port, endPort: port });
  }
  return { view: cloud.view(), spec: toSpec({ ports, ingress: [{ ip, ipMode: "VIP" }] }) };
}

test("a Service with a port for each node port is planned in a moment", () => {
  const { view, spec } = createLarge();
  const startedMs = performance.now();
  const counts = [plan(view, spec), planRelease(view, spec)].map(({ steps }) => steps.length);
  expect(counts).toEqual([0, 2 * 2_768 + 1]);
  // It takes about 0.1 s. With a search through all rules for each port it took 10 s.
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});
