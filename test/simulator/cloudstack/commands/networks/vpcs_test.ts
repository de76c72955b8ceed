import { expect, test } from "bun:test";
import { listEntries, listNames, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

const rig = useCloudStack();

test("listVPCs lists VPCs of the caller and their tiers", async () => {
  const { vpcId: id } = addTier(rig, "web");
  const ops = rig.story.accountIds.ops;
  addTier(rig, "foreign", { accountId: ops });
  const names = async (fields: Fields = {}, username = "kubeadmin") =>
    listNames(await rig.ask("listVPCs", fields, { username }), "vpc");
  expect(await names()).toEqual(["vpc-of-web"]);
  expect(await names({ id })).toEqual(["vpc-of-web"]);
  expect(await names({ name: "vpc-of-web", zoneid: rig.story.zoneIds.paris })).toHaveLength(1);
  expect(await names({ zoneid: rig.story.zoneIds.lyon })).toEqual([]);
  expect(await names({ keyword: "nothing" })).toEqual([]);
  expect(await names({}, "ops")).toEqual(["vpc-of-foreign"]);
  expect(await names({ listall: "true" }, "admin")).toHaveLength(2);
  expect((await rig.ask("listVPCs", { id: "none" })).status).toBe(431);
  const [vpc] = listEntries(await rig.ask("listVPCs"), "vpc");
  expect(vpc).toMatchObject({
    state: "Enabled",
    zonename: "paris",
    account: "acme",
    network: [{ name: "web", vpcid: id }],
    tags: [],
  });
});
