import { describe, expect, test } from "bun:test";
import type { Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";
import { addTier, networkOf } from "../../../../support/cloud/cloudstack_networks.ts";

describe("associateIpAddress and disassociateIpAddress", () => {
  const rig = useCloudStack();
  const networkid = (): string => networkOf(rig, "k8s-paris").id;
  const ipOf = (address: string) => rig.simulator.state.publicIps.get(rig.ipId(address));

  test("an address is the account's at once, and leads to the network when the job is done", async () => {
    const fields = { networkid: networkid() };
    const { body } = await rig.ask("associateIpAddress", fields, { method: "POST" });
    expect(body["id"]).toBe(rig.ipId("192.0.2.12"));
    expect(ipOf("192.0.2.12")).toMatchObject({
      state: "Allocating",
      accountId: expect.any(String),
    });
    expect(ipOf("192.0.2.12")).not.toHaveProperty("networkId");
    await rig.clock.advance(200);
    expect(ipOf("192.0.2.12")).toMatchObject({ state: "Allocated", networkId: networkid() });
    const job = await rig.ask("queryAsyncJobResult", { jobid: String(body["jobid"]) });
    const shown = { ipaddress: "192.0.2.12", associatednetworkname: "k8s-paris" };
    const ipaddress = { ...shown, state: "Allocating" };
    expect(job.body).toMatchObject({ jobstatus: 1, jobresult: { ipaddress } });
  });

  test("exactly the address that is asked for is taken, and only while it is free", async () => {
    const fields = { networkid: networkid(), ipaddress: "192.0.2.15" };
    expect(await rig.change("associateIpAddress", fields)).toMatchObject({ code: 0 });
    expect(await rig.change("associateIpAddress", fields)).toMatchObject({
      code: 533,
      text: "Insufficient address capacity",
    });
  });

  test("without a free address there is no capacity; over the limit, the account gets none", async () => {
    rig.simulator.settings.publicIpsMax = 3;
    const fields = { networkid: networkid() };
    expect(await rig.change("associateIpAddress", fields)).toMatchObject({ code: 0 });
    expect(await rig.change("associateIpAddress", fields)).toMatchObject({ code: 535 });
    rig.simulator.settings.publicIpsMax = Infinity;
    for (const ip of rig.simulator.state.publicIps.values()) {
      if (ip.state === "Free") ip.state = "Reserved";
    }
    expect(await rig.change("associateIpAddress", fields)).toMatchObject({ code: 533 });
  });

  test("an address of a VPC leads to no tier yet", async () => {
    const { vpcId } = addTier(rig, "tier");
    const done = await rig.change("associateIpAddress", { vpcid: vpcId, networkid: networkid() });
    expect(done.result).toMatchObject({ ipaddress: { vpcid: vpcId, hasrules: false } });
    expect(done.result["ipaddress"]).not.toHaveProperty("associatednetworkid");
  });

  test.each<[string, Fields, number]>([
    ["a tier instead of its VPC", { networkid: "tier" }, 431],
    ["nothing", {}, 431],
    ["an unknown VPC", { vpcid: "none" }, 431],
    ["another account's network", { networkid: "foreign" }, 531],
  ])("an address for %s is refused, and free again", async (_, fields, code) => {
    const tier = addTier(rig, "tier");
    const foreign = addTier(rig, "other", { accountId: rig.story.accountIds.ops });
    const ids: Fields = { tier: tier.id, foreign: foreign.id };
    const named = fields["networkid"];
    const all = { ...fields, ...(named !== undefined && { networkid: ids[named] ?? "" }) };
    expect(await rig.change("associateIpAddress", all)).toMatchObject({ code });
    expect(ipOf("192.0.2.12")).toMatchObject({ state: "Free" });
  });

  test("a job that fails gives the address back", async () => {
    rig.simulator.faults.set({ kind: "failedJob", code: 534, text: "no router" });
    const done = await rig.change("associateIpAddress", { networkid: networkid() });
    expect([done.code, done.id]).toEqual([534, rig.ipId("192.0.2.12")]);
    const ip = ipOf("192.0.2.12");
    expect([ip?.state, ip?.accountId, ip?.allocatedMs]).toEqual(["Free", undefined, undefined]);
  });

  test("an address for a project belongs to the project", async () => {
    const project = rig.simulator.state.projects.get(rig.story.projectId);
    const network = addTier(rig, "project", { accountId: project?.accountId });
    const fields = { vpcid: network.vpcId, projectid: rig.story.projectId };
    expect((await rig.change("associateIpAddress", fields)).result).toMatchObject({
      ipaddress: { projectid: rig.story.projectId },
    });
  });

  test("disassociateIpAddress wipes every rule on the address, tags included", async () => {
    const { state } = rig.simulator;
    const { id } = await rig.change("associateIpAddress", { networkid: networkid() });
    const rule = { algorithm: "source", name: "a", privateport: "30080", publicport: "80" };
    const { id: ruleId } = await rig.change("createLoadBalancerRule", { ...rule, publicipid: id });
    const forwarding = {
      ipaddressid: id,
      protocol: "udp",
      privateport: "1",
      publicport: "81",
      virtualmachineid: rig.idOf("worker-1"),
    };
    await rig.change("createPortForwardingRule", forwarding);
    const firewall = { ipaddressid: id, protocol: "tcp", startport: "22" };
    await rig.change("createFirewallRule", firewall);
    const tag = { resourceids: id, resourcetype: "PublicIpAddress", "tags[0].key": "a" };
    await rig.change("createTags", { ...tag, "tags[0].value": "b" });
    const sizes = (): number[] =>
      [state.loadBalancerRules, state.portForwardings, state.firewallRules].map((map) => map.size);
    expect([state.loadBalancerRules.has(ruleId), ...sizes()]).toEqual([true, 1, 1, 2]);

    const { body } = await rig.ask("disassociateIpAddress", { id }, { method: "POST" });
    expect(body).toEqual({ jobid: expect.any(String) });
    await rig.clock.advance(100);
    expect(state.publicIps.get(id)).toMatchObject({ state: "Releasing" });
    expect(sizes()).toEqual([0, 0, 0]);
    await rig.clock.advance(100);
    expect(state.publicIps.get(id)).toMatchObject({ state: "Free" });
    expect(state.tags.of(id)).toEqual([]);
    expect(await rig.change("disassociateIpAddress", { id })).toMatchObject({ code: 0 });
  });

  test("a source NAT address stays; one of another account is refused", async () => {
    const done = await rig.change("disassociateIpAddress", { ipaddress: "192.0.2.10" });
    expect([done.code, done.text]).toEqual([530, expect.stringContaining("source nat")]);
    const fields = { id: rig.ipId("192.0.2.11") };
    const options = { username: "ops" };
    expect(await rig.change("disassociateIpAddress", fields, options)).toMatchObject({ code: 531 });
    expect(await rig.change("disassociateIpAddress", {})).toMatchObject({ code: 431 });
    expect(ipOf("192.0.2.11")).toMatchObject({ state: "Allocated" });
  });

  test("an address that is given back before its job is done waits for that job", async () => {
    const fields = { networkid: networkid() };
    const { body } = await rig.ask("associateIpAddress", fields, { method: "POST" });
    await rig.ask("disassociateIpAddress", { id: String(body["id"]) }, { method: "POST" });
    await rig.clock.advance(300);
    expect(ipOf("192.0.2.12")).toMatchObject({ state: "Releasing", networkId: networkid() });
    await rig.clock.advance(100);
    expect(ipOf("192.0.2.12")).not.toHaveProperty("networkId");
    expect(ipOf("192.0.2.12")).toMatchObject({ state: "Free" });
  });

  test("jobs of one network run one after the other", async () => {
    const fields = { networkid: networkid() };
    for (let index = 0; index < 2; index += 1) {
      await rig.ask("associateIpAddress", fields, { method: "POST" });
    }
    const states = (): unknown[] =>
      ["192.0.2.12", "192.0.2.13"].map((address) => ipOf(address)?.state);
    await rig.clock.advance(200);
    expect(states()).toEqual(["Allocated", "Allocating"]);
    await rig.clock.advance(200);
    expect(states()).toEqual(["Allocated", "Allocated"]);
  });
});
