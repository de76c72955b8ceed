import { describe, expect, test } from "bun:test";
import { makeRule, networkOf, takeAddress } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("the firewall rule of a load-balancer rule", () => {
  const rig = useCloudStack();
  const open = { openfirewall: "" };
  const portsOf = (): unknown[] =>
    [...rig.simulator.state.firewallRules.values()].map(({ protocol, startPort, cidrs }) => [
      protocol,
      startPort,
      cidrs,
    ]);

  test("by default it is TCP from everywhere, gone with the rule", async () => {
    const publicipid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    const id = await makeRule(rig, publicipid, { ...open, protocol: "udp" });
    expect(portsOf()).toEqual([["tcp", 80, ["0.0.0.0/0"]]]);
    await rig.change("deleteLoadBalancerRule", { id });
    expect(portsOf()).toEqual([]);
  });

  test("another firewall rule in the way refuses the whole rule", async () => {
    const publicipid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    const there = { ipaddressid: publicipid, protocol: "tcp", startport: "80", endport: "90" };
    await rig.change("createFirewallRule", there);
    const refused = makeRule(rig, publicipid, open);
    const text = /^The range specified, 80-80, conflicts with rule \d+ which has 80-90$/;
    await expect(refused).rejects.toThrow(text);
    expect([portsOf().length, rig.simulator.state.loadBalancerRules.size]).toEqual([1, 0]);
    await makeRule(rig, publicipid, { openfirewall: "false" });
  });

  test("a network without a firewall refuses it", async () => {
    const network = networkOf(rig, "k8s-paris");
    const publicipid = await takeAddress(rig, network);
    rig.simulator.state.networks.set(network.id, { ...network, services: ["Lb"] });
    await expect(makeRule(rig, publicipid, open)).rejects.toThrow("Internal error");
    await makeRule(rig, publicipid);
  });
});
