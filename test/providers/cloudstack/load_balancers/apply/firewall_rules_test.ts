/**
 * Firewall rules: what a step does in CloudStack, and that the store then shows what a look shows.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { useApply } from "./apply_rig.ts";

const rig = useApply();

describe("firewall rules", () => {
  test("a firewall rule opens one port for its clients, and goes again", async () => {
    const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
    const addressId = done.id;
    await rig.look();
    const cidrs = ["192.0.2.0/24", "10.0.0.0/8"];
    await rig.apply({ kind: "createFirewallRule", addressId, protocol: "tcp", port: 80, cidrs });
    const known = rig.store.view?.firewallRules;
    expect(known).toEqual((await rig.look()).firewallRules);
    const [rule] = [...(rig.store.view?.firewallRules.values() ?? [])];
    expect(rule).toMatchObject({ startPort: 80, endPort: 80, cidrs: cidrs.toSorted() });
    expect(rig.store.isValid).toBe(true);
    const gone = { kind: "deleteFirewallRule", firewallRuleId: rule?.id ?? "" } as const;
    await rig.apply(gone);
    expect(rig.store.view?.firewallRules.size).toBe(0);
    expect(rig.simulator.state.firewallRules.size).toBe(0);
  });

  test("one that is gone already is no failure", async () => {
    await rig.look();
    const firewallRuleId = "eeeeeeee-2222-4333-8444-555555555555";
    expect(await rig.apply({ kind: "deleteFirewallRule", firewallRuleId })).toBeUndefined();
    expect(rig.store.isValid).toBe(true);
  });
});
