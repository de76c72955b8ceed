import { describe, expect, test } from "bun:test";
import type { LoadBalancerRule } from "../../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { makeRule, networkOf, takeAddress } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack, type Done } from "../../../../support/cloud/cloudstack_rig.ts";

describe("assignToLoadBalancerRule and removeFromLoadBalancerRule", () => {
  const rig = useCloudStack();
  const ruleOf = (id: string): LoadBalancerRule | undefined =>
    rig.simulator.state.loadBalancerRules.get(id);
  const make = async (): Promise<string> =>
    makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")));
  const ids = (...names: string[]): Fields => ({
    virtualmachineids: names.map((name) => rig.idOf(name)).join(","),
  });
  const assign = (id: string, fields: Fields): Promise<Done> =>
    rig.change("assignToLoadBalancerRule", { id, ...fields });
  const remove = (id: string, fields: Fields): Promise<Done> =>
    rig.change("removeFromLoadBalancerRule", { id, ...fields });
  const backendsOf = (id: string): unknown => ruleOf(id)?.applied?.backends;

  test("members get the traffic of the router when the job is done", async () => {
    const id = await make();
    const fields = { id, ...ids("worker-1", "worker-2") };
    await rig.ask("assignToLoadBalancerRule", fields, { method: "POST" });
    await rig.clock.advance(100);
    expect([ruleOf(id)?.members.length, backendsOf(id)]).toEqual([2, undefined]);
    await rig.clock.advance(100);
    expect(ruleOf(id)).toMatchObject({
      state: "Active",
      applied: { protocol: "tcp", privatePort: 30_080, backends: ["10.10.0.21", "10.10.0.22"] },
    });
  });

  test("one machine that is a member already fails the whole call", async () => {
    const id = await make();
    expect((await assign(id, ids("worker-1"))).result).toEqual({ success: true });
    const done = await assign(id, ids("worker-2", "worker-1"));
    expect(done.code).toBe(431);
    expect(done.text).toMatch(/^VM \d+ with 10\.10\.0\.21 is already mapped to load balancer\.$/);
    expect(ruleOf(id)?.members.map(({ ip }) => ip)).toEqual(["10.10.0.21"]);
  });

  test("any interface in the network will do, not only the first one", async () => {
    const id = await make();
    await assign(id, ids("worker-dual"));
    expect(backendsOf(id)).toEqual(["10.10.0.23"]);
  });

  test.each<[string, string, string]>([
    ["Destroyed", "worker-1", "Invalid instance id specified"],
    ["Expunging", "worker-1", "Invalid instance id specified"],
    ["Running", "worker-3", "doesn't belong in the same network."],
    ["Running", "worker-10", "doesn't belong in the same network."],
    ["Running", "runner", "belong to different accounts"],
  ])("a %s machine %s is refused: %s", async (state, name, text) => {
    const id = await make();
    if (state === "Destroyed") rig.simulator.state.setState(rig.idOf(name), state);
    if (state === "Expunging") rig.simulator.state.expunge(rig.idOf(name));
    const done = await assign(id, ids("worker-2", name));
    expect([done.code, done.text]).toEqual([431, expect.stringContaining(text)]);
    expect(ruleOf(id)).toMatchObject({ state: "Add", members: [] });
  });

  test("a machine that was never known is refused at once", async () => {
    const id = await make();
    expect((await assign(id, { virtualmachineids: "none" })).code).toBe(431);
    expect((await assign(id, {})).text).toContain("can't be null");
  });

  test("a stopped machine is a member like others", async () => {
    const id = await make();
    rig.simulator.state.setState(rig.idOf("worker-1"), "Stopped");
    expect((await assign(id, ids("worker-1"))).code).toBe(0);
  });

  test.each([false, true])(
    "a router that fails takes the change back; late: %p",
    async (isLate) => {
      const id = await make();
      await assign(id, ids("worker-1"));
      const before = structuredClone(ruleOf(id));
      const fault = { kind: "failedJob", code: 530, text: "no", isLate } as const;
      rig.simulator.faults.set(fault, { times: 2 });
      expect((await assign(id, ids("worker-2"))).code).toBe(530);
      expect(ruleOf(id)).toEqual(before);
      expect((await remove(id, ids("worker-1"))).code).toBe(530);
      expect(ruleOf(id)).toEqual(before);
    },
  );

  test("vmidipmap chooses secondary addresses, beside the own one or alone", async () => {
    const id = await make();
    const vm = rig.simulator.state.vm(rig.idOf("worker-1"));
    vm.nics[0]?.secondaryIps.push("10.10.0.121", "10.10.0.122");
    const map = (ip: string): Fields => ({ "vmidipmap[0].vmid": vm.id, "vmidipmap[0].vmip": ip });
    expect((await assign(id, map("10.10.0.121"))).code).toBe(0);
    expect(backendsOf(id)).toEqual(["10.10.0.121"]);
    expect((await assign(id, { ...ids("worker-1"), ...map("10.10.0.122") })).code).toBe(0);
    expect(ruleOf(id)?.members.length).toBe(3);
    expect((await assign(id, map("10.10.0.99"))).text).toContain("does not belong to nic");
    expect((await remove(id, map("10.10.0.99"))).code).toBe(431);
    expect((await remove(id, map("10.10.0.121"))).code).toBe(0);
    expect(ruleOf(id)?.members.length).toBe(2);
    expect((await remove(id, ids("worker-1"))).code).toBe(0);
    expect(ruleOf(id)?.members).toEqual([]);
  });

  test("a rule without members is Add again; taking away what is no member is no error", async () => {
    const id = await make();
    await assign(id, ids("worker-1", "worker-2"));
    await remove(id, ids("worker-1", "cp-1"));
    expect([ruleOf(id)?.state, backendsOf(id)]).toEqual(["Active", ["10.10.0.22"]]);
    await remove(id, ids("worker-2"));
    expect([ruleOf(id)?.state, backendsOf(id)]).toEqual(["Add", []]);
  });

  test("a member that a job takes away is still listed", async () => {
    const id = await make();
    await assign(id, ids("worker-1"));
    await rig.ask("removeFromLoadBalancerRule", { id, ...ids("worker-1") }, { method: "POST" });
    await rig.clock.advance(100);
    expect((await rig.ask("listLoadBalancerRuleInstances", { id })).body["count"]).toBe(1);
    await rig.clock.advance(100);
    expect((await rig.ask("listLoadBalancerRuleInstances", { id })).body).toEqual({});
  });

  test("a machine that is expunged leaves its rules; one that is destroyed does not", async () => {
    const id = await make();
    await assign(id, ids("worker-1", "worker-2"));
    rig.simulator.state.setState(rig.idOf("worker-1"), "Destroyed");
    expect(ruleOf(id)?.members.length).toBe(2);
    rig.simulator.state.expunge(rig.idOf("worker-1"));
    expect([ruleOf(id)?.members.length, backendsOf(id)]).toEqual([1, ["10.10.0.22"]]);
  });

  test("a rule that a job before deleted fails the assignment", async () => {
    const id = await make();
    await rig.ask("deleteLoadBalancerRule", { id }, { method: "POST" });
    const fields = { id, ...ids("worker-1") };
    await rig.ask("assignToLoadBalancerRule", fields, { method: "POST" });
    await rig.ask("removeFromLoadBalancerRule", fields, { method: "POST" });
    await rig.clock.advance(600);
    const codes = [...rig.simulator.jobs.all.values()].map((job) => job.resultCode);
    expect(codes.slice(-3)).toEqual([0, 431, 431]);
  });
});
