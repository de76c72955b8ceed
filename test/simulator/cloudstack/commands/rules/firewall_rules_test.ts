import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier, makeRule, takeAddress } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("commands about firewall rules", () => {
  const rig = useCloudStack();
  const ipId = (address = "192.0.2.10"): string =>
    [...rig.simulator.state.publicIps.values()].find((ip) => ip.address === address)?.id ?? "";
  const toFields = (fields: Fields = {}): Fields => ({
    ipaddressid: ipId(),
    protocol: "tcp",
    startport: "80",
    ...fields,
  });
  const post = (command: string, fields: Fields) => rig.ask(command, fields, { method: "POST" });
  const endJob = () => rig.clock.advance(rig.simulator.settings.jobMs);
  const queryJob = async (jobid: unknown) =>
    (await rig.ask("queryAsyncJobResult", { jobid: String(jobid) })).body;
  const list = async (fields: Fields = {}, username = "kubeadmin") =>
    listEntries(await rig.ask("listFirewallRules", fields, { username }), "firewallrule");

  /** Makes a rule, and waits for its job. Its ID. */
  async function create(fields: Fields = {}): Promise<string> {
    const { status, body } = await post("createFirewallRule", toFields(fields));
    expect([status, body["errortext"]]).toEqual([200, undefined]);
    await endJob();
    return String(body["id"]);
  }

  test("createFirewallRule makes the rule at once, which its job puts to work", async () => {
    const cidrlist = "10.0.0.0/8,192.168.0.0/16";
    const { body } = await post("createFirewallRule", toFields({ cidrlist, endport: "81" }));
    expect(await list()).toMatchObject([{ id: body["id"], state: "Add" }]);
    await endJob();
    const rule = {
      id: body["id"],
      protocol: "tcp",
      startport: 80,
      endport: 81,
      ipaddressid: ipId(),
      ipaddress: "192.0.2.10",
      networkid: expect.any(String),
      state: "Active",
      cidrlist,
      traffictype: "Ingress",
      tags: [],
      fordisplay: true,
    };
    expect(await list()).toEqual([rule]);
    expect(await queryJob(body["jobid"])).toMatchObject({
      jobstatus: 1,
      jobinstancetype: "FirewallRule",
      jobinstanceid: body["id"],
      jobresult: { firewallrule: rule },
    });
    rig.simulator.settings.sendsPortsAsText = true;
    expect(await list()).toMatchObject([{ startport: "80", endport: "81" }]);
  });

  test("without sources it lets in everyone, without an end one port", async () => {
    await create({ protocol: "UDP" });
    expect(await list()).toMatchObject([
      { protocol: "udp", startport: 80, endport: 80, cidrlist: "0.0.0.0/0" },
    ]);
  });

  test.each<[string, Fields, number]>([
    ["the same rule again", {}, 537],
    ["a range around it with one source in common", { startport: "1", endport: "90" }, 537],
    ["other sources", { cidrlist: "172.16.0.0/12" }, 200],
    ["another port", { startport: "81" }, 200],
    ["another protocol", { protocol: "udp" }, 200],
    ["another address", { ipaddressid: "192.0.2.11" }, 200],
  ])("beside a rule, %s: %d", async (_, fields, status) => {
    const cidrlist = "10.0.0.0/8,192.168.0.0/16";
    await create({ cidrlist });
    const address = fields["ipaddressid"];
    const more = address === undefined ? {} : { ipaddressid: ipId(address) };
    const all = toFields({ cidrlist: "192.168.0.0/16", ...fields, ...more });
    const answer = await post("createFirewallRule", all);
    expect(answer.status).toBe(status);
    if (status === 537) expect(answer.body["errortext"]).toMatch(/^The range specified, \d+-\d+, /);
    expect(rig.simulator.state.firewallRules.size).toBe(status === 200 ? 2 : 1);
  });

  test("a rule for every port meets another such one, and ICMP by its type", async () => {
    await create({ startport: "" });
    expect((await post("createFirewallRule", toFields({ startport: "" }))).status).toBe(537);
    const icmp = { protocol: "icmp", startport: "", icmptype: "8" };
    await create(icmp);
    expect((await post("createFirewallRule", toFields(icmp))).status).toBe(431);
    await create({ ...icmp, icmptype: "0" });
    expect(await list()).toMatchObject([{ icmptype: 0, icmpcode: -1 }, { icmptype: 8 }, {}]);
    expect((await list())[2]).not.toHaveProperty("startport");
  });

  test.each<[string, Fields, number]>([
    ["no address", { ipaddressid: "" }, 431],
    ["an unknown address", { ipaddressid: "none" }, 431],
    ["a free address", { ipaddressid: "192.0.2.12" }, 431],
    ["no protocol", { protocol: "" }, 431],
    ["a protocol that routers do not filter", { protocol: "all", startport: "" }, 431],
    ["the protocol of a load balancer", { protocol: "tcp-proxy" }, 431],
    ["port 0", { startport: "0" }, 431],
    ["no number", { startport: "http" }, 431],
    ["an end before the start", { endport: "79" }, 431],
    ["an address without bits", { cidrlist: "10.0.0.1" }, 431],
    ["ICMP with ports", { protocol: "icmp" }, 431],
  ])("createFirewallRule refuses %s", async (_, fields, status) => {
    const address = fields["ipaddressid"] ?? "";
    const more = address.includes(".") ? { ipaddressid: ipId(address) } : {};
    const answer = await post("createFirewallRule", toFields({ ...fields, ...more }));
    expect(answer.status).toBe(status);
    expect(rig.simulator.state.firewallRules.size).toBe(0);
  });

  test("createFirewallRule refuses another account's address, and a network without firewall", async () => {
    const options = { method: "POST", username: "ops" } as const;
    expect((await rig.ask("createFirewallRule", toFields(), options)).status).toBe(531);
    const { networks, publicIps } = rig.simulator.state;
    const network = networks.get(publicIps.get(ipId())?.networkId ?? "");
    if (network !== undefined) networks.set(network.id, { ...network, services: ["Lb"] });
    const refused = await post("createFirewallRule", toFields());
    expect([refused.status, refused.body["errortext"]]).toEqual([
      530,
      expect.stringContaining("contact your administrator"),
    ]);
  });

  test("a job that fails takes its rule away, and the port is free again", async () => {
    const text = "Failed to create firewall rule";
    rig.simulator.faults.set({ kind: "failedJob", code: 530, text }, { times: 1 });
    const { body } = await post("createFirewallRule", toFields());
    await endJob();
    expect(await queryJob(body["jobid"])).toMatchObject({ jobstatus: 2, jobresultcode: 530 });
    expect(await list()).toEqual([]);
    await create();
  });

  test("deleteFirewallRule deletes with its tags; a rule that goes blocks no other", async () => {
    const id = await create();
    rig.simulator.state.tags.add({
      key: "k",
      value: "v",
      resourceType: "FirewallRule",
      resourceId: id,
      accountId: rig.story.accountIds.acme,
    });
    expect(await list()).toMatchObject([{ tags: [{ key: "k", resourcetype: "FirewallRule" }] }]);
    await post("deleteFirewallRule", { id });
    await rig.clock.advance(1);
    expect(await list()).toMatchObject([{ id, state: "Deleting" }]);
    const { body } = await post("createFirewallRule", toFields());
    await endJob();
    await endJob();
    expect(await list()).toMatchObject([{ id: body["id"], state: "Active" }]);
    expect(rig.simulator.state.tags.all).toEqual([]);
  });

  test("the last rule of any kind takes an address of a VPC off its tier", async () => {
    const { state } = rig.simulator;
    const tier = addTier(rig, "web");
    state.networks.set(tier.id, { ...tier, services: ["Lb", "Firewall"] });
    const ipaddressid = await takeAddress(rig, tier);
    const ruleId = await makeRule(rig, ipaddressid, { networkid: tier.id });
    const id = await create({ ipaddressid });
    await rig.change("deleteLoadBalancerRule", { id: ruleId });
    expect(state.publicIps.get(ipaddressid)?.networkId).toBe(tier.id);
    await rig.change("deleteFirewallRule", { id });
    expect(state.publicIps.get(ipaddressid)?.networkId).toBeUndefined();
  });

  test("a deletion that fails at its end leaves a rule that can be deleted, and blocks none", async () => {
    const id = await create();
    const fault = { kind: "failedJob", code: 530, text: "no router", isLate: true } as const;
    rig.simulator.faults.set(fault, { times: 1 });
    expect(await rig.change("deleteFirewallRule", { id })).toMatchObject({ code: 530 });
    expect(await list()).toMatchObject([{ id, state: "Deleting" }]);
    const other = await create();
    expect(await rig.change("deleteFirewallRule", { id })).toMatchObject({ code: 0 });
    expect(await list()).toMatchObject([{ id: other }]);
  });

  test("deleteFirewallRule refuses what is unknown or not the caller's; a second job fails", async () => {
    const id = await create();
    expect((await rig.ask("deleteFirewallRule", { id }, { username: "ops" })).status).toBe(531);
    expect((await post("deleteFirewallRule", { id: "none" })).status).toBe(431);
    const [first, second] = [
      await post("deleteFirewallRule", { id }),
      await post("deleteFirewallRule", { id }),
    ];
    await endJob();
    await endJob();
    expect(await queryJob(first.body["jobid"])).toMatchObject({ jobstatus: 1 });
    expect(await queryJob(second.body["jobid"])).toMatchObject({
      jobstatus: 2,
      jobresultcode: 431,
    });
  });

  test("listFirewallRules lists the newest first, by address, network, ID and tags", async () => {
    const first = await create();
    const second = await create({ startport: "443" });
    const other = await create({ ipaddressid: ipId("192.0.2.11") });
    const ids = async (fields: Fields, username?: string): Promise<unknown[]> =>
      (await list(fields, username)).map((rule) => rule["id"]);
    expect(await ids({})).toEqual([other, second, first]);
    expect(await ids({ ipaddressid: ipId() })).toEqual([second, first]);
    expect(await ids({ id: first })).toEqual([first]);
    expect(await ids({ page: "2", pagesize: "2" })).toEqual([first]);
    const networkid = rig.simulator.state.firewallRules.get(first)?.networkId ?? "";
    expect(await ids({ networkid })).toHaveLength(3);
    expect(await ids({ "tags[0].key": "k", "tags[0].value": "v" })).toEqual([]);
    expect(await ids({ listall: "true" }, "ops")).toEqual([]);
    expect(await ids({ listall: "true" }, "admin")).toHaveLength(3);
  });

  test("listFirewallRules refuses an address that is free, unknown or not the caller's", async () => {
    const status = async (ipaddressid: string, username = "kubeadmin"): Promise<number> =>
      (await rig.ask("listFirewallRules", { ipaddressid }, { username })).status;
    expect(await status(ipId("192.0.2.12"))).toBe(431);
    expect(await status("none")).toBe(431);
    expect(await status(ipId(), "ops")).toBe(531);
  });

  test("a member sees and changes a project's rules, which other lists lack", async () => {
    const { state } = rig.simulator;
    const ip = state.publicIps.get(ipId());
    if (ip !== undefined) ip.accountId = state.projects.get(rig.story.projectId)?.accountId ?? "";
    const id = await create();
    expect(await list({ listall: "true" })).toEqual([]);
    expect(await list({ projectid: rig.story.projectId })).toMatchObject([{ id }]);
    expect((await post("deleteFirewallRule", { id })).status).toBe(200);
  });
});
