import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import {
  addTier,
  makeRule,
  networkOf,
  takeAddress,
} from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("listPublicIpAddresses", () => {
  const rig = useCloudStack();

  /** The last parts of the addresses that a list shows. */
  async function list(fields: Fields, username = "kubeadmin"): Promise<number[]> {
    const answer = await rig.ask("listPublicIpAddresses", fields, { username });
    const entries = listEntries(answer, "publicipaddress");
    return entries.map((entry) => Number(String(entry["ipaddress"]).split(".").at(-1)));
  }

  test.each<[string, Fields, number[]]>([
    ["nothing: the own ones", {}, [10, 11, 12, 13]],
    ["free ones, too", { allocatedonly: "false" }, [10, 11, 12, 13, 14, 15, 16, 17]],
    ["state Free", { state: "free" }, [14, 15, 16, 17]],
    ["state Allocated", { state: "Allocated" }, [10, 11, 12, 13]],
    ["an address", { ipaddress: "192.0.2.13" }, [13]],
    ["a free address, only with free ones", { ipaddress: "192.0.2.14" }, []],
    ["a network", { associatednetworkid: "paris" }, [10, 11, 12]],
    ["a VPC", { vpcid: "vpc" }, [13]],
    ["source NAT", { issourcenat: "true" }, [10]],
    ["static NAT", { isstaticnat: "true" }, [11]],
    ["neither", { issourcenat: "false", isstaticnat: "false" }, [12, 13]],
    ["load balancing", { forloadbalancing: "true" }, [12]],
    ["another zone", { zoneid: "lyon" }, []],
    ["a part", { keyword: "2.1", page: "2", pagesize: "3" }, [13]],
    ["a tag, or another one", { "tags[0].key": "a", "tags[0].value": "b" }, [12]],
  ])("by %s", async (_, fields, expected) => {
    const id = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    const tier = addTier(rig, "tier");
    await takeAddress(rig, tier);
    await makeRule(rig, id);
    const tag = { key: "a", value: "b", resourceType: "PublicIpAddress" };
    rig.simulator.state.tags.add({ ...tag, resourceId: id, accountId: "" });
    const paris = networkOf(rig, "k8s-paris").id;
    const ids: Fields = { paris, lyon: rig.story.zoneIds.lyon, vpc: tier.vpcId };
    const asked = Object.entries(fields).map(([key, value]) => [key, ids[value] ?? value]);
    expect(await list(Object.fromEntries(asked))).toEqual(expected);
  });

  test("a server may hide free addresses from users", async () => {
    rig.simulator.settings.showsFreeIps = false;
    const fields = { allocatedonly: "false", listall: "true" };
    expect(await list(fields)).toEqual([10, 11]);
    expect((await list(fields, "admin")).length).toBe(8);
  });

  test("addresses of a project show only by the project", async () => {
    const project = rig.simulator.state.projects.get(rig.story.projectId);
    await takeAddress(rig, addTier(rig, "tier", { accountId: project?.accountId }));
    expect(await list({ listall: "true" })).toEqual([10, 11]);
    expect(await list({ projectid: rig.story.projectId })).toEqual([12]);
    expect(await list({ projectid: rig.story.projectId, listall: "true" })).toEqual([12]);
  });
});
