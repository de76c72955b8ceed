import { describe, expect, test } from "bun:test";
import { listEntries, listNames, type Fields } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("commands about places", () => {
  const rig = useCloudStack();

  test.each<[string, string, Fields, string[]]>([
    ["listZones", "zone", {}, ["paris", "lyon"]],
    ["listZones", "zone", { name: "Lyon" }, ["lyon"]],
    ["listZones", "zone", { keyword: "ari" }, ["paris"]],
    ["listNetworks", "network", {}, ["k8s-paris", "storage-paris", "k8s-lyon", "storage-lyon"]],
    ["listNetworks", "network", { type: "Shared" }, ["storage-paris", "storage-lyon"]],
    ["listNetworks", "network", { keyword: "k8s" }, ["k8s-paris", "k8s-lyon"]],
    ["listServiceOfferings", "serviceoffering", {}, ["Small Instance", "Large-8 (Über)"]],
    ["listServiceOfferings", "serviceoffering", { keyword: "large" }, ["Large-8 (Über)"]],
  ])("%s lists %s with %j", async (command, key, fields, names) => {
    expect(listNames(await rig.ask(command, fields), key)).toEqual(names);
  });

  test("find by ID, and refuse an unknown one", async () => {
    const id = rig.story.zoneIds.lyon;
    expect(listNames(await rig.ask("listZones", { id }), "zone")).toEqual(["lyon"]);
    const commands = ["listZones", "listNetworks", "listPublicIpAddresses", "listServiceOfferings"];
    for (const command of commands) {
      expect((await rig.ask(command, { id: "nope" })).status).toBe(431);
    }
  });

  test("listZones shows a disabled zone to the root administrator only", async () => {
    const zone = rig.simulator.state.zones.get(rig.story.zoneIds.lyon);
    if (zone !== undefined) zone.isEnabled = false;
    expect(listNames(await rig.ask("listZones"), "zone")).toEqual(["paris"]);
    const [, lyon] = listEntries(await rig.ask("listZones", {}, { username: "admin" }), "zone");
    expect(lyon).toMatchObject({ name: "lyon", allocationstate: "Disabled" });
  });

  test("listNetworks shows shared networks to every account, others to their owner", async () => {
    const answer = await rig.ask("listNetworks", {}, { username: "ops" });
    expect(listNames(answer, "network")).toEqual(["storage-paris", "storage-lyon"]);
    const zoneid = rig.story.zoneIds.paris;
    const [own, shared] = listEntries(await rig.ask("listNetworks", { zoneid }), "network");
    expect(own).toMatchObject({
      type: "Isolated",
      cidr: "10.10.0.0/24",
      account: "acme",
      state: "Implemented",
    });
    expect(own?.["service"]).toContainEqual({
      name: "Lb",
      capability: expect.arrayContaining([
        expect.objectContaining({ name: "SupportedLbAlgorithms", value: expect.any(String) }),
      ]),
    });
    expect(shared).not.toHaveProperty("account");
  });

  test("listPublicIpAddresses shows own addresses, and free ones only when asked", async () => {
    const list = async (fields: Fields): Promise<Record<string, unknown>[]> =>
      listEntries(await rig.ask("listPublicIpAddresses", fields), "publicipaddress");
    const [source, nat] = await list({});
    expect(source).toMatchObject({ issourcenat: true, isstaticnat: false, state: "Allocated" });
    expect(nat).toMatchObject({
      ipaddress: "192.0.2.11",
      isstaticnat: true,
      virtualmachineid: rig.idOf("cp-1"),
      associatednetworkname: "k8s-paris",
      account: "acme",
      allocated: "2026-01-02T03:04:05+0000",
    });
    expect(await list({})).toHaveLength(2);
    expect(await list({ isstaticnat: "true" })).toEqual([nat ?? {}]);
    expect(await list({ allocatedonly: "false" })).toHaveLength(8);
    expect(await list({ zoneid: rig.story.zoneIds.lyon, allocatedonly: "false" })).toEqual([]);
    const [free] = await list({ allocatedonly: "false", ipaddress: "192.0.2.12" });
    expect(free).toMatchObject({ state: "Free" });
    expect(free).not.toHaveProperty("allocated");
    const theirs = await rig.ask("listPublicIpAddresses", {}, { username: "ops" });
    expect(theirs.body).toEqual({});
  });

  test("static NAT ends with its machine", async () => {
    rig.simulator.state.expunge(rig.idOf("cp-1"));
    const answer = await rig.ask("listPublicIpAddresses", { isstaticnat: "true" });
    expect(answer.body).toEqual({});
  });
});
