import { describe, expect, test } from "bun:test";
import { listEntries, listNames, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import {
  addTier,
  makeRule,
  networkOf,
  takeAddress,
} from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack, type Done } from "../../../../support/cloud/cloudstack_rig.ts";

describe("listLoadBalancerRules and listLoadBalancerRuleInstances", () => {
  const rig = useCloudStack();
  const namesOf = async (fields: Fields, username = "kubeadmin"): Promise<unknown[]> =>
    listNames(await rig.ask("listLoadBalancerRules", fields, { username }), "loadbalancerrule");

  /** Two rules on an address of a network, and one on an address of a VPC. */
  async function makeThree(): Promise<Record<"web" | "api" | "vpc" | "ip", string>> {
    const ip = await takeAddress(rig, networkOf(rig, "k8s-paris"));
    const tier = addTier(rig, "tier");
    const web = await makeRule(rig, ip, { name: "a1-tcp-80", description: "of team/web" });
    const api = await makeRule(rig, ip, { name: "a1-tcp-81", publicport: "81" });
    const place = { networkid: tier.id, name: "a2-tcp-80" };
    const vpc = await makeRule(rig, await takeAddress(rig, tier), place);
    return { web, api, vpc, ip };
  }

  test.each<[string, Fields, string[]]>([
    ["nothing", {}, ["a1-tcp-80", "a1-tcp-81", "a2-tcp-80"]],
    ["a part of the name", { keyword: "TCP-80" }, ["a1-tcp-80", "a2-tcp-80"]],
    ["a part of the description", { keyword: "team/w" }, ["a1-tcp-80"]],
    ["the whole name", { name: "a1-tcp-8" }, []],
    ["the name", { name: "a1-tcp-81" }, ["a1-tcp-81"]],
    ["an ID", { id: "api" }, ["a1-tcp-81"]],
    ["an address", { publicipid: "ip" }, ["a1-tcp-80", "a1-tcp-81"]],
    ["a network", { networkid: "tier" }, ["a2-tcp-80"]],
    ["another zone", { zoneid: "lyon" }, []],
    ["a member", { virtualmachineid: "worker-1" }, ["a1-tcp-80"]],
    ["a page", { page: "2", pagesize: "2" }, ["a2-tcp-80"]],
  ])("by %s", async (_, fields, expected) => {
    const made = await makeThree();
    const id = made.web;
    const virtualmachineids = rig.idOf("worker-1");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    const ids: Fields = {
      ...made,
      tier: networkOf(rig, "tier").id,
      lyon: rig.story.zoneIds.lyon,
      "worker-1": virtualmachineids,
    };
    const asked = Object.entries(fields).map(([key, value]) => [key, ids[value] ?? value]);
    expect(await namesOf(Object.fromEntries(asked))).toEqual(expected);
  });

  test("of several tags, one is enough", async () => {
    const { web, api, vpc } = await makeThree();
    const add = (resourceids: string, key: string, value: string): Promise<Done> =>
      rig.change("createTags", {
        resourceids,
        resourcetype: "LoadBalancer",
        "tags[0].key": key,
        "tags[0].value": value,
      });
    await add(web, "cluster", "one");
    await add(api, "service", "two");
    await add(vpc, "cluster", "other");
    const asked = {
      "tags[0].key": "cluster",
      "tags[0].value": "one",
      "tags[1].key": "service",
      "tags[1].value": "two",
    };
    expect(await namesOf(asked)).toEqual(["a1-tcp-80", "a1-tcp-81"]);
  });

  test("another account sees no rule, an administrator does; what is unknown is refused", async () => {
    await makeThree();
    expect(await namesOf({ listall: "true" }, "ops")).toEqual([]);
    expect((await namesOf({ listall: "true" }, "admin")).length).toBe(3);
    expect((await rig.ask("listLoadBalancerRules", { publicipid: "none" })).status).toBe(431);
    expect((await rig.ask("listLoadBalancerRules", { name: "none" })).body).toEqual({});
  });

  test("members that are gone or not well are left out, stopped ones are not", async () => {
    const { web: id } = await makeThree();
    const names = ["cp-1", "worker-1", "worker-2", "worker-dual"];
    const virtualmachineids = names.map((name) => rig.idOf(name)).join(",");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    const list = async (): Promise<unknown[]> =>
      listNames(await rig.ask("listLoadBalancerRuleInstances", { id }), "loadbalancerruleinstance");
    expect(await list()).toEqual(names);
    const { state } = rig.simulator;
    state.setState(rig.idOf("cp-1"), "Destroyed");
    state.setState(rig.idOf("worker-1"), "Stopped");
    state.setState(rig.idOf("worker-2"), "Error");
    state.setState(rig.idOf("worker-dual"), "Unknown");
    expect(await list()).toEqual(["worker-1"]);
    const applied = { id, applied: "false" };
    expect((await rig.ask("listLoadBalancerRuleInstances", applied)).body).toEqual({});
  });

  test("with lbvmips, each member has the addresses that get its traffic", async () => {
    const { web: id } = await makeThree();
    const virtualmachineids = rig.idOf("worker-1");
    await rig.change("assignToLoadBalancerRule", { id, virtualmachineids });
    const answer = await rig.ask("listLoadBalancerRuleInstances", { id, lbvmips: "true" });
    expect(listEntries(answer, "lbrulevmidip")).toMatchObject([
      { lbvmipaddresses: ["10.10.0.21"], loadbalancerruleinstance: { name: "worker-1" } },
    ]);
  });

  test("the members of another account's rule are refused", async () => {
    const { web: id } = await makeThree();
    const ask = (fields: Fields, username?: string): Promise<{ readonly status: number }> =>
      rig.ask("listLoadBalancerRuleInstances", fields, username === undefined ? {} : { username });
    expect((await ask({ id }, "ops")).status).toBe(531);
    expect((await ask({ id: "none" })).status).toBe(431);
    expect((await ask({})).status).toBe(431);
  });
});
