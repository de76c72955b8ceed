import { describe, expect, test } from "bun:test";
import {
  toAclItem,
  type AclItemOptions,
} from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { listEntries, listNames, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier, networkOf, type Tier } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("lists of network ACL items", () => {
  const rig = useCloudStack();

  function addItem(tier: Tier, options: Omit<AclItemOptions, "list">): string {
    const list = rig.simulator.state.aclLists.get(tier.aclId);
    if (list === undefined) throw new RangeError(tier.name);
    const item = toAclItem({ list, ...options });
    rig.simulator.state.aclItems.set(item.id, item);
    return item.id;
  }

  const project = () => rig.simulator.state.projects.get(rig.story.projectId);
  const listLists = async (fields: Fields = {}, username = "kubeadmin") =>
    listNames(await rig.ask("listNetworkACLLists", fields, { username }), "networkacllist");
  const listItems = async (fields: Fields = {}, username = "kubeadmin") => {
    const answer = await rig.ask("listNetworkACLs", fields, { username });
    const entries = listEntries(answer, "networkacl");
    return entries.map((item) => `${item["aclname"]} ${item["number"]}`);
  };

  test("listNetworkACLLists lists the caller's and those of every account", async () => {
    const tier = addTier(rig, "web");
    const open = addTier(rig, "open", { acl: "allow" });
    addTier(rig, "foreign", { accountId: rig.story.accountIds.ops });
    const defaults = ["default_allow", "default_deny"];
    expect(await listLists()).toEqual(["acl-of-web", ...defaults]);
    expect(await listLists({ id: tier.aclId })).toEqual(["acl-of-web"]);
    expect(await listLists({ networkid: tier.id })).toEqual(["acl-of-web"]);
    expect(await listLists({ networkid: open.id })).toEqual(["default_allow"]);
    expect(await listLists({ networkid: networkOf(rig, "k8s-paris").id })).toEqual([]);
    expect(await listLists({ vpcid: tier.vpcId })).toEqual(["acl-of-web", ...defaults]);
    expect(await listLists({ vpcid: open.vpcId })).toEqual(defaults);
    expect(await listLists({ name: "default_deny" })).toEqual(["default_deny"]);
    expect(await listLists({ keyword: "of-w" })).toEqual(["acl-of-web"]);
    expect(await listLists({ page: "2", pagesize: "2" })).toEqual(["default_deny"]);
    expect(await listLists({}, "ops")).toEqual(["acl-of-foreign", ...defaults]);
  });

  test("a list of a project shows by the project, or by its ID", async () => {
    const tier = addTier(rig, "web", { accountId: project()?.accountId });
    expect(await listLists({ listall: "true" })).not.toContain("acl-of-web");
    expect(await listLists({ projectid: rig.story.projectId })).toContain("acl-of-web");
    expect((await rig.ask("listNetworkACLLists", { id: "none" })).status).toBe(431);
    const username = "ops";
    const refused = await rig.ask("listNetworkACLLists", { vpcid: tier.vpcId }, { username });
    expect(refused.status).toBe(531);
  });

  test("listNetworkACLs lists by list or network, the newest first", async () => {
    const tier = addTier(rig, "web");
    const id = addItem(tier, { number: 5, startPort: 80 });
    addItem(tier, { number: 2, protocol: "udp", startPort: 53, action: "Deny" });
    addItem(tier, { number: 9, protocol: "all", trafficType: "Egress" });
    const all = ["acl-of-web 9", "acl-of-web 2", "acl-of-web 5"];
    expect(await listItems({ aclid: tier.aclId })).toEqual(all);
    expect(await listItems({ networkid: tier.id })).toEqual(all);
    expect(await listItems({ id })).toEqual(["acl-of-web 5"]);
    expect(await listItems({ aclid: tier.aclId, traffictype: "egress" })).toEqual(all.slice(0, 1));
    expect(await listItems({ aclid: tier.aclId, protocol: "UDP" })).toEqual(["acl-of-web 2"]);
    expect(await listItems({ aclid: tier.aclId, action: "deny" })).toEqual(["acl-of-web 2"]);
    expect(await listItems({ aclid: tier.aclId, page: "2", pagesize: "2" })).toEqual(all.slice(2));
    const open = addTier(rig, "open", { acl: "allow" });
    expect(await listItems({ networkid: open.id })).toEqual(["default_allow 2", "default_allow 1"]);
    expect(await listItems({ networkid: networkOf(rig, "k8s-paris").id })).toEqual([]);
    expect(await listItems({ networkid: open.id, aclid: tier.aclId })).toHaveLength(2);
  });

  test("a list that is named shows whatever the scope; without one, the scope decides", async () => {
    const tier = addTier(rig, "web", { accountId: project()?.accountId });
    addItem(tier, { number: 1 });
    expect(await listItems({ aclid: tier.aclId })).toEqual(["acl-of-web 1"]);
    expect(await listItems({ listall: "true" })).toHaveLength(4);
    expect(await listItems({ projectid: rig.story.projectId })).toHaveLength(5);
    const username = "ops";
    const refused = await rig.ask("listNetworkACLs", { aclid: tier.aclId }, { username });
    expect(refused.status).toBe(531);
  });

  test("an item has tags, and shows by them", async () => {
    const tier = addTier(rig, "web");
    const id = addItem(tier, { number: 1 });
    const tag = { "tags[0].key": "a", "tags[0].value": "b" };
    const fields = { resourceids: id, resourcetype: "NetworkACL", ...tag };
    expect((await rig.change("createTags", fields, { username: "ops" })).code).toBe(530);
    expect(await rig.change("createTags", fields)).toMatchObject({ code: 0 });
    addItem(tier, { number: 2 });
    expect(await listItems({ aclid: tier.aclId, ...tag })).toEqual(["acl-of-web 1"]);
  });
});
