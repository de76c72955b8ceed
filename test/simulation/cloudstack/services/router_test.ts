import { describe, expect, test } from "bun:test";
import { createNetworkKinds } from "../../../support/cloud/cloudstack_network_kinds.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { toPublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";
import { toAclItem } from "../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { CLIENTS, isAmong, listClients } from "./router.ts";
import { toLoadBalancerRule } from "../../../support/cloud/cloudstack_rules.ts";

const KINDS = createNetworkKinds();

function toState(kind: "isolated" | "open" | "tier", cidrList?: string) {
  const state = new CloudStackState(KINDS.world);
  const network = KINDS.networks[kind];
  const ip = { ...toPublicIp("192.0.2.1", network.zoneId, KINDS.ownerId), networkId: network.id };
  state.publicIps.set(ip.id, ip);
  const list = cidrList === undefined ? {} : { cidrList };
  const rule = toLoadBalancerRule({ ip, name: "web", vms: KINDS.vms[kind], ...list });
  return { state, ip, rule };
}

describe("listClients()", () => {
  test("lets nobody in through a firewall without a rule, and those that a rule names", () => {
    const { state, ip, rule } = toState("isolated");
    expect(listClients(state, rule)).toEqual([]);
    const one = toFirewallRule({ ip, startPort: 70, endPort: 90, cidrs: ["10.0.0.0/8"] });
    state.firewallRules.set(one.id, one);
    expect(listClients(state, rule)).toEqual(["10.1.2.3"]);
    const udp = toFirewallRule({ ip, protocol: "udp", startPort: 80 });
    state.firewallRules.set(udp.id, udp);
    expect(listClients(state, rule)).toEqual(["10.1.2.3"]);
  });

  test("lets the first item of an ACL list decide", () => {
    const { state, rule } = toState("tier");
    expect(listClients(state, rule)).toEqual([]);
    const item = toAclItem({ list: KINDS.aclList, number: 50, startPort: 80 });
    state.aclItems.set(item.id, item);
    expect(listClients(state, rule)).toEqual([...CLIENTS]);
    const deny = toAclItem({
      list: KINDS.aclList,
      number: 49,
      protocol: "all",
      cidrs: ["10.0.0.0/8"],
      action: "Deny",
    });
    state.aclItems.set(deny.id, deny);
    expect(listClients(state, rule)).not.toContain("10.1.2.3");
  });

  test.each([
    [undefined, [...CLIENTS]],
    ["10.0.0.0/8 192.168.0.0/16", ["10.1.2.3", "192.168.1.1"]],
    ["10.0.0.0/8,192.168.0.0/16", ["10.1.2.3", "192.168.1.1"]],
  ])("goes by the list of the rule that the router runs: %s", (list, clients) => {
    const { state, rule } = toState("open", list);
    expect(listClients(state, rule)).toEqual(clients);
    rule.cidrList = "0.0.0.0/0";
    expect(listClients(state, rule)).toEqual(clients);
  });

  test("lets nobody in where there is no backend", () => {
    const { state, rule } = toState("open");
    delete rule.applied;
    expect(listClients(state, rule)).toEqual([]);
  });
});

test.each([
  ["10.1.2.3", "10.0.0.0/8", true],
  ["11.1.2.3", "10.0.0.0/8", false],
  ["203.0.113.99", "0.0.0.0/0", true],
  ["10.1.2.3", "10.1.2.3/32", true],
])("isAmong(): %s in %s is %p", (client, cidr, isIn) => {
  expect(isAmong(client, [cidr])).toBe(isIn);
});
