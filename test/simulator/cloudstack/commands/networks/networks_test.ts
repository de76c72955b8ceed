import { describe, expect, test } from "bun:test";
import { toNetworkReply } from "../../../../../lib/simulator/cloudstack/commands/networks/networks.ts";
import { listEntries, listNames, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier, networkOf } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("listNetworks", () => {
  const rig = useCloudStack();
  const list = async (fields: Fields) =>
    listNames(await rig.ask("listNetworks", fields), "network");

  test("lists by VPC, zone and tags", async () => {
    const { vpcId } = addTier(rig, "web");
    expect(await list({ vpcid: vpcId })).toEqual(["web"]);
    expect((await rig.ask("listNetworks", { vpcid: "none" })).status).toBe(431);
    expect(await list({ zoneid: rig.story.zoneIds.lyon })).toEqual(["k8s-lyon", "storage-lyon"]);
    const resourceids = networkOf(rig, "k8s-paris").id;
    const tag = { "tags[0].key": "a", "tags[0].value": "b" };
    await rig.change("createTags", { resourceids, resourcetype: "Network", ...tag });
    expect(await list(tag)).toEqual(["k8s-paris"]);
  });

  test("shows the VPC and the list of a tier, and neither of other networks", async () => {
    const tier = addTier(rig, "web", { acl: "deny" });
    const [shown, other] = [
      ...listEntries(await rig.ask("listNetworks", { id: tier.id }), "network"),
      ...listEntries(await rig.ask("listNetworks", { keyword: "k8s-paris" }), "network"),
    ];
    expect(shown).toMatchObject({
      vpcid: tier.vpcId,
      vpcname: "vpc-of-web",
      aclid: tier.aclId,
      aclname: "default_deny",
      networkofferingconservemode: false,
    });
    expect(shown?.["service"]).toContainEqual(expect.objectContaining({ name: "NetworkACL" }));
    for (const field of ["vpcid", "aclid", "aclname"]) expect(other).not.toHaveProperty(field);
    expect(other?.["networkofferingconservemode"]).toBe(true);
  });

  test("says what a load balancer can do, stickiness as JSON text, unless it knows none", () => {
    const network = networkOf(rig, "k8s-paris");
    const read = (stickiness?: []): Map<string, string> => {
      const shown = { ...network, ...(stickiness && { stickiness }) };
      const { service } = Object(toNetworkReply(shown, rig.simulator.state));
      const { capability } = service.find(({ name }: { name: string }) => name === "Lb");
      return new Map(
        capability.map((one: { name: string; value: string }) => [one.name, one.value]),
      );
    };
    const text = read().get("SupportedStickinessMethods") ?? "";
    expect(JSON.parse(text)).toContainEqual({
      methodname: "SourceBased",
      paramlist: ["tablesize", "expire"].map((paramname) => ({
        paramname,
        required: false,
        isflag: false,
        description: expect.any(String),
      })),
      description: expect.any(String),
    });
    expect(read().get("SupportedLbAlgorithms")).toBe("roundrobin,leastconn,source");
    expect(read([]).has("SupportedStickinessMethods")).toBe(false);
  });
});
