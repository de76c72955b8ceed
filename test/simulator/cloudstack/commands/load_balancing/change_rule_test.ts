import { describe, expect, test } from "bun:test";
import type { LoadBalancerRule } from "../../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import {
  addTier,
  makeRule,
  networkOf,
  takeAddress,
} from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack, type Done } from "../../../../support/cloud/cloudstack_rig.ts";

describe("updateLoadBalancerRule and deleteLoadBalancerRule", () => {
  const rig = useCloudStack();
  const ruleOf = (id: string): LoadBalancerRule | undefined =>
    rig.simulator.state.loadBalancerRules.get(id);
  const update = (id: string, fields: Fields): Promise<Done> =>
    rig.change("updateLoadBalancerRule", { id, ...fields });

  /** A rule with one member. */
  async function makeServing(): Promise<string> {
    const id = await makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")));
    const virtualmachineids = rig.idOf("worker-1");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    return id;
  }

  test.each<[string, Fields, string | undefined]>([
    ["another algorithm", { algorithm: "source", protocol: "tcp-proxy" }, "tcp-proxy"],
    ["other sources", { cidrlist: "10.0.0.0/8", protocol: "tcp-proxy" }, "tcp-proxy"],
    ["another protocol", { protocol: "tcp-proxy" }, "tcp"],
    ["the same algorithm", { algorithm: "roundrobin", protocol: "tcp-proxy" }, "tcp"],
    ["another name", { name: "new", description: "d", protocol: "tcp-proxy" }, "tcp"],
  ])("with %s, the router runs the new protocol or not", async (_, fields, applied) => {
    const id = await makeServing();
    const { loadbalancer } = (await update(id, fields)).result;
    const { cidrlist, ...rest } = fields;
    expect(loadbalancer).toMatchObject({ id, state: "Active", ...rest });
    expect(loadbalancer).toHaveProperty("cidrlist", cidrlist ?? "");
    expect(ruleOf(id)).toMatchObject({ protocol: "tcp-proxy", applied: { protocol: applied } });
  });

  test("what was only stored reaches the router with the next change that is sent", async () => {
    const id = await makeServing();
    await update(id, { protocol: "tcp-proxy" });
    const virtualmachineids = rig.idOf("worker-2");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    expect(ruleOf(id)?.applied).toMatchObject({ protocol: "tcp-proxy" });
  });

  test.each([
    ["4.18.0.0", "10.0.0.0/8 10.1.0.0/16"],
    ["4.21.1.0", "10.0.0.0/8 10.1.0.0/16"],
    ["4.22.0.0", "10.0.0.0/8,10.2.0.0/16"],
  ])(
    "server %s ends with the sources %s: commas, if it knows the parameter",
    async (version, kept) => {
      const publicipid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
      const id = await makeRule(rig, publicipid, { cidrlist: "10.0.0.0/8,10.1.0.0/16" });
      rig.simulator.settings.version = version;
      expect((await update(id, { cidrlist: "10.0.0.0/8,10.2.0.0/16" })).code).toBe(0);
      expect(ruleOf(id)?.cidrList).toBe(kept);
    },
  );

  test.each<[string, Fields, number]>([
    ["an unknown algorithm", { algorithm: "random" }, 431],
    ["an unknown protocol", { protocol: "sctp" }, 431],
    ["a source that is none", { cidrlist: "any" }, 431],
    ["an unknown rule", { id: "none" }, 431],
  ])("%s is refused", async (_, fields, code) => {
    const id = await makeServing();
    const before = structuredClone(ruleOf(id));
    expect((await update(id, { name: "new", ...fields })).code).toBe(code);
    expect(ruleOf(id)).toEqual(before);
  });

  test.each<[string, Fields, number]>([
    ["an algorithm, even the same one", { algorithm: "roundrobin" }, 431],
    ["tcp-proxy", { protocol: "tcp-proxy" }, 431],
    ["another name", { name: "new" }, 0],
  ])("in a network of Netris, a change to %s is answered %d", async (_, fields, code) => {
    const id = await makeServing();
    const network = networkOf(rig, "k8s-paris");
    rig.simulator.state.networks.set(network.id, { ...network, balancer: "Netris" });
    expect((await update(id, fields)).code).toBe(code);
  });

  test("a rule of a group that grows by itself takes no members and stays", async () => {
    const id = await makeServing();
    const rule = ruleOf(id);
    if (rule !== undefined) {
      rig.simulator.state.loadBalancerRules.set(id, { ...rule, isAutoscaled: true });
    }
    const fields = { id, virtualmachineids: rig.idOf("worker-2") };
    expect((await rig.change("assignToLoadBalancerRule", fields)).code).toBe(431);
    expect((await rig.change("deleteLoadBalancerRule", { id })).code).toBe(530);
    expect(ruleOf(id)).toMatchObject({ state: "Active", members: [{ isRevoked: false }] });
  });

  test("a rule that is deleted is shown as Revoke until the job is done", async () => {
    const id = await makeServing();
    await rig.ask("deleteLoadBalancerRule", { id }, { method: "POST" });
    await rig.clock.advance(100);
    expect(ruleOf(id)).toMatchObject({ state: "Revoke", members: [{ isRevoked: true }] });
    expect((await rig.ask("listLoadBalancerRuleInstances", { id })).body["count"]).toBe(1);
    await rig.clock.advance(100);
    expect(ruleOf(id)).toBeUndefined();
    expect((await rig.change("deleteLoadBalancerRule", { id })).code).toBe(431);
  });

  test("of two deletions of a rule, the second job fails", async () => {
    const id = await makeServing();
    await rig.ask("deleteLoadBalancerRule", { id }, { method: "POST" });
    await rig.ask("deleteLoadBalancerRule", { id }, { method: "POST" });
    await rig.clock.advance(400);
    const [first, second] = [...rig.simulator.jobs.all.values()].slice(-2);
    expect([first?.resultCode, second?.resultCode]).toEqual([0, 431]);
  });

  test.each([false, true])(
    "a deletion that fails leaves the rule as it was; late: %p",
    async (isLate) => {
      const id = await makeServing();
      const before = structuredClone(ruleOf(id));
      rig.simulator.faults.set({ kind: "failedJob", code: 534, text: "no router", isLate });
      expect((await rig.change("deleteLoadBalancerRule", { id })).code).toBe(534);
      expect(ruleOf(id)).toEqual(before);
    },
  );

  test("the last rule of an address of a VPC unbinds it from the tier", async () => {
    const tier = addTier(rig, "tier");
    const publicipid = await takeAddress(rig, tier);
    const ip = rig.simulator.state.publicIps.get(publicipid);
    const first = await makeRule(rig, publicipid, { networkid: tier.id });
    const second = await makeRule(rig, publicipid, { networkid: tier.id, publicport: "81" });
    await rig.change("deleteLoadBalancerRule", { id: first });
    expect(ip?.networkId).toBe(tier.id);
    await rig.change("deleteLoadBalancerRule", { id: second });
    expect([ip?.networkId, ip?.vpcId]).toEqual([undefined, tier.vpcId]);
  });

  test("an address of an isolated network stays bound without rules", async () => {
    const id = await makeServing();
    const ip = rig.simulator.state.publicIps.get(ruleOf(id)?.ipId ?? "");
    await rig.change("deleteLoadBalancerRule", { id });
    expect(ip?.networkId).toBe(networkOf(rig, "k8s-paris").id);
  });
});
