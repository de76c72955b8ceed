/**
 * What the double does as other servers do, by its settings, and what the hands of a test do to it: neither is in the
 * contract, which runs on a new installation from outside.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toUser } from "../../../lib/simulator/cloudstack/access/accounts.ts";
import { listEntries, listNames, type Fields } from "../../support/cloud/cloudstack_asks.ts";
import { makeRule, networkOf, takeAddress } from "../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";

describe("the settings of a simulated CloudStack", () => {
  const rig = useCloudStack();
  const statusOf = async (...args: Parameters<typeof rig.ask>): Promise<number> =>
    (await rig.ask(...args)).status;
  const findVms = async (fields: Fields, username = "kubeadmin"): Promise<unknown[]> =>
    listNames(await rig.ask("listVirtualMachines", fields, { username }), "virtualmachine");

  test.each([
    [600_000, 599_000, 200],
    [600_000, 601_000, 401],
  ])("%p ms are left to a clock that is %p ms ahead: %p", async (endsMs, skewMs, status) => {
    Object.assign(rig.simulator.settings, { clockSkewMs: skewMs, sendsDate: true });
    const answer = await rig.ask("listZones", {}, { expiresMs: rig.clock.now() + endsMs });
    expect(answer.status).toBe(status);
    expect(Date.parse(answer.headers.get("date") ?? "")).toBe(rig.clock.now() + skewMs);
  });

  test("enforce POST and timestamps", async () => {
    rig.simulator.settings.enforcesPostAndTimestamps = true;
    const id = rig.idOf("worker-1");
    const soon = { expiresMs: rig.clock.now() + 600_000 };
    const late = { expiresMs: rig.clock.now() + 901_000 };
    expect([
      await statusOf("listZones", {}, soon),
      await statusOf("listZones", {}, late),
      await statusOf("listZones"),
      await statusOf("stopVirtualMachine", { id }, soon),
      await statusOf("stopVirtualMachine", { id }, { ...soon, method: "POST" }),
    ]).toEqual([200, 401, 401, 405, 200]);
  });

  test("refuse a command that the role lacks with 401, as before 4.22", async () => {
    rig.simulator.settings.refusesBy = 401;
    rig.simulator.user.role = { name: "r", commands: ["listV*"] };
    const { status, key, body } = await rig.ask("listZones");
    expect([status, key]).toEqual([401, "listzonesresponse"]);
    expect(body["errortext"]).toContain("The given command 'listZones' either does not exist");
    expect(await statusOf("listVirtualMachines")).toBe(200);
  });

  test("throttle an account, say for how long, and leave root administrators alone", async () => {
    rig.simulator.settings.throttling = { max: 2, intervalMs: 1_000 };
    const ask = (username: string) => statusOf("listZones", {}, { username });
    expect([await ask("kubeadmin"), await ask("kubeadmin")]).toEqual([200, 200]);
    await rig.clock.advance(250);
    const { status, body } = await rig.ask("listZones");
    expect([status, body["errortext"]]).toEqual([
      429,
      "The given user has reached his/her account api limit, please retry after [750] ms.",
    ]);
    expect([await ask("ops"), await ask("admin"), await ask("admin"), await ask("admin")]).toEqual([
      200, 200, 200, 200,
    ]);
    await rig.clock.advance(750);
    expect(await ask("kubeadmin")).toBe(200);
  });

  test("compare parts of names, as before 4.20", async () => {
    rig.simulator.settings.nameMatch = "part";
    expect(await findVms({ name: "orker-1" })).toEqual(["worker-1", "worker-10"]);
  });

  test("cut lists, hide free addresses, and send the ports of a firewall as text", async () => {
    const { settings } = rig.simulator;
    settings.defaultPageSize = 4;
    const answer = await rig.ask("listVirtualMachines");
    expect(answer.body["count"]).toBe(10);
    expect(listNames(answer, "virtualmachine")).toHaveLength(4);
    expect(await statusOf("listVirtualMachines", { page: "1", pagesize: "5" })).toBe(431);
    const ipaddressid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    settings.showsFreeIps = false;
    const free = { allocatedonly: "false", state: "Free" };
    expect((await rig.ask("listPublicIpAddresses", free)).body).toEqual({});
    settings.sendsPortsAsText = true;
    const rule = { ipaddressid, protocol: "tcp", startport: "80", endport: "81" };
    const { result } = await rig.change("createFirewallRule", rule);
    expect(result).toMatchObject({ firewallrule: { startport: "80", endport: "81" } });
  });

  test.each([
    ["4.9.3", 431, undefined],
    ["4.17.2.0", 431, undefined],
    ["4.18.0.0", 0, "10.0.0.0/8"],
    ["4.21.9.0", 0, "10.0.0.0/8"],
    ["4.22.0.0", 0, "10.2.0.0/16"],
  ])("as of %s answer sources with %p, and end with %p", async (version, code, kept) => {
    const fields = { algorithm: "source", name: "web", privateport: "1", publicport: "80" };
    const publicipid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    rig.simulator.settings.version = version;
    const cidrlist = "10.0.0.0/8";
    const all = { ...fields, publicipid, openfirewall: "false", cidrlist };
    const done = await rig.change("createLoadBalancerRule", all);
    expect(done.code).toBe(code);
    await rig.change("updateLoadBalancerRule", { id: done.id, cidrlist: "10.2.0.0/16" });
    expect(rig.simulator.state.loadBalancerRules.get(done.id)?.cidrList).toBe(kept);
  });
});

describe("the hands of a test on a simulated CloudStack", () => {
  const rig = useCloudStack();
  const findVms = async (fields: Fields, username = "kubeadmin") =>
    listEntries(await rig.ask("listVirtualMachines", fields, { username }), "virtualmachine");

  test("add a machine, send other fields of one, and hide it", async () => {
    const { state } = rig.simulator;
    const id = state.addVm(rig.story.late.options);
    expect(await findVms({ id })).toMatchObject([{ name: "worker-late" }]);
    state.override(id, { name: 42, zonename: undefined });
    state.override(id, { nic: {} });
    const [vm] = await findVms({ id });
    expect(vm).toMatchObject({ id, name: 42, nic: {} });
    expect(vm).not.toHaveProperty("zonename");
    state.hide(id);
    expect(await findVms({ id })).toEqual([]);
    state.hide(id, false);
    expect(await findVms({ id })).toHaveLength(1);
  });

  test("give a machine to another account, without interfaces in networks of this one", async () => {
    const { state } = rig.simulator;
    const id = rig.idOf("worker-dual");
    state.assign(id, rig.story.accountIds.ops);
    expect(await findVms({ id })).toEqual([]);
    expect(await findVms({ id }, "ops")).toMatchObject([{ nic: [{ type: "Shared" }] }]);
  });

  test("forget a machine, whose ID is unknown then", async () => {
    const { state } = rig.simulator;
    const id = rig.idOf("worker-1");
    state.expunge(id);
    expect((await rig.ask("listVirtualMachines", { id })).body).toEqual({});
    state.purge(id);
    expect((await rig.ask("listVirtualMachines", { id })).status).toBe(431);
  });

  test("change keys and roles, and let an account see what is destroyed", async () => {
    const { state, user } = rig.simulator;
    const account = state.accounts.get(user.accountId);
    if (account === undefined) throw new Error("The user has no account");
    const id = rig.idOf("worker-1");
    state.setState(id, "Destroyed");
    expect(await findVms({ id })).toEqual([]);
    account.seesDestroyed = true;
    expect(await findVms({ id })).toHaveLength(1);
    const old = { apikey: user.apiKey };
    user.apiKey = "other";
    expect((await rig.ask("listZones", old, { username: "ops" })).status).toBe(401);
    user.isEnabled = false;
    expect((await rig.ask("listZones")).status).toBe(401);
    const made = toUser({ username: "x", account });
    expect(new Set([made.apiKey, made.secretKey, user.secretKey]).size).toBe(3);
  });

  test("find members that are not well left out of the list, and stopped ones not", async () => {
    const id = await makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")));
    const names = ["cp-1", "worker-1", "worker-2", "worker-dual"];
    const virtualmachineids = names.map((name) => rig.idOf(name)).join(",");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    const states = ["Destroyed", "Stopped", "Error", "Unknown"] as const;
    names.forEach((name, at) =>
      rig.simulator.state.setState(rig.idOf(name), states[at] ?? "Error"),
    );
    const list = await rig.ask("listLoadBalancerRuleInstances", { id });
    expect(listNames(list, "loadbalancerruleinstance")).toEqual(["worker-1"]);
  });
});
