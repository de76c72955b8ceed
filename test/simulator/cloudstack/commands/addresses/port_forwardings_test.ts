import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import {
  addTier,
  makeRule,
  networkOf,
  takeAddress,
} from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack, type Done } from "../../../../support/cloud/cloudstack_rig.ts";

describe("commands about port forwardings", () => {
  const rig = useCloudStack();
  const create = (fields: Fields): Promise<Done> =>
    rig.change("createPortForwardingRule", {
      virtualmachineid: rig.idOf("worker-1"),
      protocol: "TCP",
      publicport: "2222",
      privateport: "22",
      ...fields,
    });
  const list = async (fields: Fields): Promise<Record<string, unknown>[]> =>
    listEntries(await rig.ask("listPortForwardingRules", fields), "portforwardingrule");

  test("one is made, listed and deleted", async () => {
    const ipaddressid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    const { id, result } = await create({ ipaddressid });
    expect(result).toMatchObject({ portforwardingrule: { id, publicport: "2222" } });
    const shown = { id, privateport: "22", protocol: "tcp", virtualmachinename: "worker-1" };
    expect(await list({ ipaddressid })).toMatchObject([shown]);
    expect(await list({ id, networkid: networkOf(rig, "k8s-paris").id })).toHaveLength(1);
    expect(await list({ ipaddressid: rig.ipId("192.0.2.10") })).toEqual([]);
    const options = { username: "ops" };
    expect((await rig.change("deletePortForwardingRule", { id }, options)).code).toBe(531);
    expect((await rig.change("deletePortForwardingRule", { id })).code).toBe(0);
    expect(await list({})).toEqual([]);
  });

  test("a port of a load-balancer rule is refused", async () => {
    const ipaddressid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    await makeRule(rig, ipaddressid, { publicport: "2222", protocol: "udp" });
    expect((await create({ ipaddressid })).code).toBe(537);
    expect((await create({ ipaddressid, publicport: "2200", publicendport: "2222" })).code).toBe(
      537,
    );
    expect((await create({ ipaddressid, publicport: "2223", protocol: "sctp" })).code).toBe(431);
  });

  test("the only one of an address of a VPC binds it to a tier, and unbinds it", async () => {
    const tier = addTier(rig, "tier");
    const ipaddressid = await takeAddress(rig, tier);
    const ip = rig.simulator.state.publicIps.get(ipaddressid);
    expect((await create({ ipaddressid })).code).toBe(431);
    const { id } = await create({ ipaddressid, networkid: tier.id });
    expect(ip?.networkId).toBe(tier.id);
    await rig.change("deletePortForwardingRule", { id });
    expect(ip?.networkId).toBeUndefined();
  });

  test("a job that fails takes it back", async () => {
    const ipaddressid = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    rig.simulator.faults.set({ kind: "failedJob", code: 534, text: "no router" });
    expect((await create({ ipaddressid })).code).toBe(534);
    expect(rig.simulator.state.portForwardings.size).toBe(0);
  });
});
