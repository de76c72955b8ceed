import { describe, expect, test } from "bun:test";
import {
  ALGORITHMS,
  isBalanced,
  isSource,
} from "../../../../../lib/simulator/cloudstack/commands/load_balancing/create_rule.ts";
import type { Network } from "../../../../../lib/simulator/cloudstack/world/records.ts";
import type { Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier, networkOf, takeAddress } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack, type Done } from "../../../../support/cloud/cloudstack_rig.ts";

const RULE = { algorithm: "roundrobin", name: "web", privateport: "30080", publicport: "80" };

describe("createLoadBalancerRule", () => {
  const rig = useCloudStack();
  const create = (fields: Fields): Promise<Done> =>
    rig.change("createLoadBalancerRule", { ...RULE, openfirewall: "false", ...fields });
  const take = (): Promise<string> => takeAddress(rig, networkOf(rig, "k8s-paris"));

  test("a rule is in the database at once, and not sent to the router", async () => {
    const publicipid = await take();
    const fields = { ...RULE, publicipid, openfirewall: "false", protocol: "tcp-proxy" };
    const { body } = await rig.ask("createLoadBalancerRule", fields, { method: "POST" });
    const rule = rig.simulator.state.loadBalancerRules.get(String(body["id"]));
    expect(rule).toMatchObject({ state: "Add", protocol: "tcp-proxy", members: [] });
    await rig.clock.advance(200);
    expect(rule).not.toHaveProperty("applied");
    const job = await rig.ask("queryAsyncJobResult", { jobid: String(body["jobid"]) });
    const loadbalancer = {
      id: body["id"],
      name: "web",
      publicipid,
      publicip: "192.0.2.12",
      publicport: "80",
      privateport: "30080",
      cidrlist: "",
      state: "Add",
      account: "acme",
    };
    expect(job.body).toMatchObject({ jobstatus: 1, jobresult: { loadbalancer } });
  });

  test("a port that another rule of the address has is refused at once, whatever the protocol", async () => {
    const publicipid = await take();
    expect(await create({ publicipid, protocol: "tcp" })).toMatchObject({ code: 0 });
    const done = await create({ publicipid, protocol: "udp", name: "dns" });
    expect(done.code).toBe(537);
    expect(done.text).toMatch(
      /^The range specified, 80-80, conflicts with rule \d+ which has 80-80$/,
    );
    expect(await create({ publicipid, publicport: "81" })).toMatchObject({ code: 0 });
    expect(rig.simulator.state.loadBalancerRules.size).toBe(2);
  });

  test("a port of a port forwarding's range is refused, and so is the address of a static NAT", async () => {
    const ipaddressid = await take();
    const virtualmachineid = rig.idOf("worker-1");
    const ports = { privateport: "10", publicport: "70", publicendport: "90", protocol: "udp" };
    const forwarding = { ipaddressid, virtualmachineid, ...ports };
    expect((await rig.change("createPortForwardingRule", forwarding)).code).toBe(0);
    expect(await create({ publicipid: ipaddressid })).toMatchObject({
      code: 537,
      text: expect.stringContaining("which has 70-90"),
    });
    expect((await create({ publicipid: ipaddressid, publicport: "91" })).code).toBe(0);
    expect(await create({ publicipid: rig.ipId("192.0.2.11") })).toMatchObject({
      code: 537,
      text: "Can't do load balance on ip address: 192.0.2.11",
    });
  });

  test("a rule binds an address of a VPC to the tier; without a tier it is refused", async () => {
    const tier = addTier(rig, "tier");
    const publicipid = await takeAddress(rig, tier);
    const ip = rig.simulator.state.publicIps.get(publicipid);
    const paris = networkOf(rig, "k8s-paris").id;
    expect((await create({ publicipid })).code).toBe(431);
    expect(await create({ publicipid, networkid: paris })).toMatchObject({
      code: 431,
      text: "Ip address 192.0.2.12 is not assigned to the network k8s-paris",
    });
    const open = await create({ publicipid, networkid: tier.id, openfirewall: "true" });
    expect([open.code, ip?.networkId]).toEqual([431, undefined]);
    expect((await create({ publicipid, networkid: tier.id })).code).toBe(0);
    expect(ip?.networkId).toBe(tier.id);
  });

  test("an address of a VPC does not serve port forwardings and load balancers at once", async () => {
    const tier = addTier(rig, "tier");
    const publicipid = await takeAddress(rig, tier);
    const forwarding = {
      ipaddressid: publicipid,
      networkid: tier.id,
      virtualmachineid: rig.idOf("worker-1"),
      privateport: "10",
      publicport: "70",
      protocol: "tcp",
    };
    expect((await rig.change("createPortForwardingRule", forwarding)).code).toBe(0);
    expect((await create({ publicipid, networkid: tier.id })).code).toBe(530);
  });

  test("on the source NAT address of a network with DNS, port 53 is refused", async () => {
    const network = networkOf(rig, "k8s-paris");
    const publicipid = rig.ipId("192.0.2.10");
    rig.simulator.state.networks.set(network.id, {
      ...network,
      services: [...network.services, "Dns"],
    });
    expect((await create({ publicipid, publicport: "53" })).code).toBe(431);
    expect((await create({ publicipid, publicport: "54" })).code).toBe(0);
    expect((await create({ publicipid: await take(), publicport: "53" })).code).toBe(0);
  });

  test.each<[string, Fields, string]>([
    [
      "a public port that is none",
      { publicport: "65536" },
      "publicPort is an invalid value: 65536",
    ],
    ["port 0", { privateport: "0" }, "privatePort is an invalid value: 0"],
    ["a port that is no number", { privateport: "http" }, "invalid value http"],
    ["an unknown algorithm", { algorithm: "random" }, "Invalid algorithm: random"],
    ["an unknown protocol", { protocol: "sctp" }, "cannot support this rule"],
    ["the router's own port", { publicport: "8081" }, "cannot support this rule"],
    ["a source that is none", { cidrlist: "10.0.0.0/8,any" }, "CIDR [any] is invalid."],
    ["a long description", { description: "x".repeat(4_097) }, "description"],
    ["no name", { name: "" }, "missing parameter name"],
    ["no address", { publicipid: "" }, "missing parameter publicipid"],
    ["a free address", { publicipid: "free" }, "permission"],
  ])("%s is refused", async (_, fields, text) => {
    const publicipid = await take();
    const isFree = fields["publicipid"] === "free";
    const all = { publicipid, ...fields, ...(isFree && { publicipid: rig.ipId("192.0.2.17") }) };
    const done = await create(all);
    expect([done.code, done.text]).toEqual([isFree ? 531 : 431, expect.stringContaining(text)]);
    expect(rig.simulator.state.loadBalancerRules.size).toBe(0);
  });

  test("an address whose job still runs is refused", async () => {
    const fields = { networkid: networkOf(rig, "k8s-paris").id };
    const { body } = await rig.ask("associateIpAddress", fields, { method: "POST" });
    expect(await create({ publicipid: String(body["id"]) })).toMatchObject({ code: 431 });
  });

  test.each([
    ["4.17.2.0", 431, undefined],
    ["4.18.0.0", 0, "10.0.0.0/8 192.0.2.1"],
    ["4.22.0.0", 0, "10.0.0.0/8 192.0.2.1"],
  ])("server %s answers %d to sources, which it keeps with blanks", async (version, code, kept) => {
    rig.simulator.settings.version = version;
    const done = await create({ publicipid: await take(), cidrlist: "10.0.0.0/8, 192.0.2.1" });
    expect(done.code).toBe(code);
    const rule = rig.simulator.state.loadBalancerRules.get(done.id);
    expect(rule?.cidrList).toBe(kept);
  });

  test("a rule is in the network of its address, whatever network the request names", async () => {
    const networkid = networkOf(rig, "k8s-lyon").id;
    const { id } = await create({ publicipid: await take(), networkid });
    const rule = rig.simulator.state.loadBalancerRules.get(id);
    expect(rule?.networkId).toBe(networkOf(rig, "k8s-paris").id);
  });

  test("HAProxy refuses UDP, also as a change, and takes everything else", async () => {
    const network: Network = { ...networkOf(rig, "k8s-paris"), balancer: "HAProxy" };
    rig.simulator.state.networks.set(network.id, network);
    const publicipid = await take();
    const refused = await create({ publicipid, protocol: "udp" });
    expect([refused.code, refused.text]).toEqual([
      431,
      "LB service provider cannot support this rule",
    ]);
    const { id } = await create({ publicipid, protocol: "tcp-proxy" });
    const change = { id, protocol: "udp" };
    expect((await rig.change("updateLoadBalancerRule", change)).code).toBe(431);
    const taken = ["tcp", "udp", "tcp-proxy", "sctp", undefined].map((protocol) =>
      isBalanced(network, protocol),
    );
    expect(taken).toEqual([true, false, true, false, true]);
  });

  test("a network without load balancers refuses rules", async () => {
    const publicipid = await take();
    const network = networkOf(rig, "k8s-paris");
    rig.simulator.state.networks.set(network.id, { ...network, services: ["Firewall"] });
    expect((await create({ publicipid })).text).toContain("not supported in specified network");
  });

  test("a job that fails takes the rule back", async () => {
    const publicipid = await take();
    rig.simulator.faults.set({ kind: "failedJob", code: 530, text: "Failed to create" });
    expect((await create({ publicipid })).code).toBe(530);
    expect(rig.simulator.state.loadBalancerRules.size).toBe(0);
  });

  test("another account's address is refused", async () => {
    const fields = { ...RULE, publicipid: await take() };
    const options = { username: "ops" };
    expect((await rig.change("createLoadBalancerRule", fields, options)).code).toBe(531);
  });
});

test("isSource() takes networks and addresses of both families", () => {
  const texts = ["10.0.0.0/8", "10.1.2.3", "2001:db8::/32", "any", "10.0.0.0/33"];
  expect(texts.map((text) => isSource(text))).toEqual([true, true, true, false, false]);
  expect(ALGORITHMS.has("leastconn")).toBe(true);
});
