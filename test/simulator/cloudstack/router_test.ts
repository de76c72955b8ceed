/**
 * What the routers of the double run, which CloudStack's API does not show, and in which order jobs come to that.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { LoadBalancerRule } from "../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { Fields } from "../../support/cloud/cloudstack_asks.ts";
import {
  addTier,
  makeRule,
  networkOf,
  takeAddress,
} from "../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";

describe("a router", () => {
  const rig = useCloudStack();
  const ruleOf = (id: string): LoadBalancerRule => {
    const rule = rig.simulator.state.loadBalancerRules.get(id);
    if (rule === undefined) throw new RangeError(id);
    return rule;
  };
  const toIds = (...names: readonly string[]): Fields => ({
    virtualmachineids: names.map((name) => rig.idOf(name)).join(","),
  });
  const start = (command: string, fields: Fields) => rig.ask(command, fields, { method: "POST" });

  /** A rule with one member. */
  async function makeServing(): Promise<string> {
    const id = await makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")));
    await rig.change("assignToLoadBalancerRule", { id, ...toIds("worker-1") });
    return id;
  }

  test("gets a rule with its first member, when the job is done", async () => {
    const id = await makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")));
    expect(ruleOf(id).applied).toBeUndefined();
    await start("assignToLoadBalancerRule", { id, ...toIds("worker-1", "worker-dual") });
    await rig.clock.advance(100);
    expect([ruleOf(id).members.length, ruleOf(id).applied]).toEqual([2, undefined]);
    await rig.clock.advance(100);
    const backends = ["10.10.0.21", "10.10.0.23"];
    const applied = { protocol: "tcp", algorithm: "roundrobin", privatePort: 30_080, backends };
    expect(ruleOf(id)).toMatchObject({ state: "Active", applied });
  });

  test.each<[string, Fields, string]>([
    ["another algorithm", { algorithm: "source" }, "tcp-proxy"],
    ["other sources", { cidrlist: "10.0.0.0/8" }, "tcp-proxy"],
    ["nothing else", {}, "tcp"],
    ["the same algorithm", { algorithm: "roundrobin" }, "tcp"],
    ["another name", { name: "new", description: "d" }, "tcp"],
  ])("gets another protocol with %s or not", async (_, fields, protocol) => {
    const id = await makeServing();
    await rig.change("updateLoadBalancerRule", { id, protocol: "tcp-proxy", ...fields });
    expect(ruleOf(id)).toMatchObject({ protocol: "tcp-proxy", applied: { protocol } });
    await rig.change("assignToLoadBalancerRule", { id, ...toIds("worker-2") });
    expect(ruleOf(id).applied?.protocol).toBe("tcp-proxy");
  });

  test("gets a stickiness policy with its rule, and keeps the old one if that fails", async () => {
    const id = await makeServing();
    const keep = (name: string): Promise<{ readonly code: number }> => {
      const parameters = { "param[0].name": "expire", "param[0].value": "30m" };
      const policy = { lbruleid: id, name, methodname: "SourceBased", ...parameters };
      return rig.change("createLBStickinessPolicy", policy);
    };
    expect((await keep("one")).code).toBe(0);
    expect(ruleOf(id).applied?.stickiness).toBe("SourceBased expire=30m&");
    rig.simulator.faults.set({ kind: "failedJob", code: 530, text: "no router", isLate: true });
    expect((await keep("two")).code).toBe(530);
    const policies = [...rig.simulator.state.stickinessPolicies.values()];
    // Revoked all the same: the next policy takes it away.
    expect(policies).toMatchObject([{ name: "one", isRevoked: true }]);
    rig.simulator.faults.clear();
    await rig.change("deleteLoadBalancerRule", { id });
    expect(rig.simulator.state.stickinessPolicies.size).toBe(0);
  });

  test.each([false, true])("that fails changes nothing; late: %p", async (isLate) => {
    const id = await makeServing();
    const before = structuredClone(ruleOf(id));
    rig.simulator.faults.set({ kind: "failedJob", code: 534, text: "no router", isLate });
    const changes: [string, Fields][] = [
      ["assignToLoadBalancerRule", toIds("worker-2")],
      ["removeFromLoadBalancerRule", toIds("worker-1")],
      ["deleteLoadBalancerRule", {}],
    ];
    for (const [command, fields] of changes) {
      expect((await rig.change(command, { id, ...fields })).code).toBe(534);
      expect(ruleOf(id)).toEqual(before);
    }
  });

  test("serves a member until the job that takes it away is done, and none that is expunged", async () => {
    const id = await makeServing();
    await rig.change("assignToLoadBalancerRule", { id, ...toIds("worker-2") });
    rig.simulator.state.setState(rig.idOf("worker-2"), "Destroyed");
    expect(ruleOf(id).members).toHaveLength(2);
    rig.simulator.state.expunge(rig.idOf("worker-2"));
    expect(ruleOf(id).applied?.backends).toEqual(["10.10.0.21"]);
    await start("removeFromLoadBalancerRule", { id, ...toIds("worker-1") });
    await rig.clock.advance(100);
    expect((await rig.ask("listLoadBalancerRuleInstances", { id })).body["count"]).toBe(1);
    await rig.clock.advance(100);
    expect(ruleOf(id)).toMatchObject({ state: "Add", members: [], applied: { backends: [] } });
  });

  test("does the jobs of one network in turn: what was deleted before fails", async () => {
    const id = await makeServing();
    await start("deleteLoadBalancerRule", { id });
    for (const command of ["assignToLoadBalancerRule", "removeFromLoadBalancerRule"]) {
      await start(command, { id, ...toIds("worker-2") });
    }
    await start("deleteLoadBalancerRule", { id });
    await rig.clock.advance(100);
    expect(ruleOf(id)).toMatchObject({ state: "Revoke", members: [{ isRevoked: true }] });
    await rig.clock.advance(700);
    const codes = [...rig.simulator.jobs.all.values()].map((job) => job.resultCode);
    expect(codes.slice(-4)).toEqual([0, 530, 431, 431]);
  });

  test("does the jobs of an ACL list at once, and each sends all of the list", async () => {
    const { aclId: aclid } = addTier(rig, "web");
    const create = (port: string) =>
      rig.change("createNetworkACL", { aclid, protocol: "tcp", startport: port, endport: port });
    const first = await create("80");
    rig.simulator.faults.set({ kind: "endlessJob" }, { command: "deleteNetworkACL", times: 1 });
    await start("deleteNetworkACL", { id: first.id });
    await rig.clock.advance(1);
    await create("443");
    const items = [...rig.simulator.state.aclItems.values()];
    expect(items.filter(({ listId }) => listId === aclid)).toMatchObject([
      { startPort: 443, state: "Active" },
    ]);
  });

  test("gets nothing from a job that the end of the double cuts off", async () => {
    const id = rig.idOf("worker-1");
    await start("stopVirtualMachine", { id });
    await rig.clock.advance(100);
    const { state, jobs } = rig.simulator;
    await rig.simulator.stop();
    await rig.clock.advance(200);
    expect([state.vm(id).state, [...jobs.all.values()][0]?.status]).toEqual(["Stopping", 0]);
  });
});
