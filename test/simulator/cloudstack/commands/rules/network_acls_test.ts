import { describe, expect, test } from "bun:test";
import type { AclItem } from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";
import type { Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { addTier, networkOf, type Tier } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("commands that change network ACL items", () => {
  const rig = useCloudStack();
  const toFields = (tier: Tier, fields: Fields = {}): Fields => ({
    aclid: tier.aclId,
    protocol: "tcp",
    startport: "80",
    cidrlist: "10.0.0.0/8",
    ...fields,
  });
  const itemsOf = ({ aclId }: Tier): AclItem[] =>
    [...rig.simulator.state.aclItems.values()].filter((item) => item.listId === aclId);
  const numbersOf = (tier: Tier): number[] => itemsOf(tier).map(({ number }) => number);

  async function create(tier: Tier, fields: Fields = {}): Promise<string> {
    const done = await rig.change("createNetworkACL", toFields(tier, fields));
    expect([done.code, done.text]).toEqual([0, ""]);
    return done.id;
  }

  test("createNetworkACL makes the item at once, which its job puts to work", async () => {
    const tier = addTier(rig, "web");
    const fields = toFields(tier, { number: "5", action: "Allow", reason: "for a test" });
    const { body } = await rig.ask("createNetworkACL", fields, { method: "POST" });
    expect(itemsOf(tier)).toMatchObject([{ id: body["id"], state: "Add" }]);
    await rig.clock.advance(rig.simulator.settings.jobMs);
    const jobid = String(body["jobid"]);
    expect((await rig.ask("queryAsyncJobResult", { jobid })).body).toMatchObject({
      jobstatus: 1,
      jobinstanceid: body["id"],
      jobresult: {
        networkacl: {
          startport: "80",
          endport: "80",
          number: 5,
          reason: "for a test",
          state: "Active",
          traffictype: "Ingress",
          cidrlist: "10.0.0.0/8",
        },
      },
    });
  });

  test("without a number it comes last, behind a deny of everything", async () => {
    const tier = addTier(rig, "web");
    await create(tier);
    await create(tier, { number: "100", protocol: "all", startport: "", action: "Deny" });
    await create(tier, { startport: "443" });
    expect(numbersOf(tier)).toEqual([1, 100, 101]);
  });

  test.each<[string, Fields, number]>([
    ["a number that is taken", { number: "1" }, 431],
    ["number 0", { number: "0" }, 431],
    ["an unknown list", { aclid: "none" }, 431],
    ["neither list nor network", { aclid: "" }, 431],
    ["a network outside of a VPC", { aclid: "", networkid: "paris" }, 431],
    ["no protocol", { protocol: "" }, 431],
    ["the protocol of a load balancer", { protocol: "tcp-proxy" }, 431],
    ["an unknown action", { action: "Drop" }, 431],
    ["the list that allows everything", { aclid: "allow" }, 431],
    ["the list that denies everything", { aclid: "deny" }, 431],
    ["another account's list", { aclid: "foreign" }, 531],
  ])("createNetworkACL refuses %s", async (_, fields, code) => {
    const tier = addTier(rig, "web");
    await create(tier);
    const ids: Fields = {
      paris: networkOf(rig, "k8s-paris").id,
      allow: addTier(rig, "allow", { acl: "allow" }).aclId,
      deny: addTier(rig, "deny", { acl: "deny" }).aclId,
      foreign: addTier(rig, "foreign", { accountId: rig.story.accountIds.ops }).aclId,
    };
    const asked = Object.entries(fields).map(([key, value]) => [key, ids[value] ?? value]);
    const count = rig.simulator.state.aclItems.size;
    const all = toFields(tier, Object.fromEntries(asked));
    expect(await rig.change("createNetworkACL", all)).toMatchObject({ code, id: "" });
    expect(rig.simulator.state.aclItems.size).toBe(count);
  });

  test("a network stands for its list, and does not matter beside one", async () => {
    const tier = addTier(rig, "web");
    await create(tier, { aclid: "", networkid: tier.id });
    await create(tier, { networkid: networkOf(rig, "k8s-paris").id });
    expect(numbersOf(tier)).toEqual([1, 2]);
  });

  test("a job that fails takes its item away", async () => {
    const tier = addTier(rig, "web");
    rig.simulator.faults.set({ kind: "failedJob", code: 530, text: "no router" }, { times: 1 });
    const done = await rig.change("createNetworkACL", toFields(tier));
    expect([done.code, itemsOf(tier)]).toEqual([530, []]);
  });

  test("updateNetworkACLItem keeps what it does not name", async () => {
    const tier = addTier(rig, "web");
    const id = await create(tier, { reason: "old" });
    const change = { id, cidrlist: "10.0.0.0/8,192.168.0.0/16", number: "7", reason: "new" };
    const done = await rig.change("updateNetworkACLItem", change);
    // As the server answers: not yet as the router has it.
    expect(done.result).toMatchObject({ networkacl: { id, number: 7, state: "Add" } });
    expect(itemsOf(tier)).toMatchObject([
      { startPort: 80, cidrs: ["10.0.0.0/8", "192.168.0.0/16"], reason: "new", state: "Active" },
    ]);
    await rig.change("updateNetworkACLItem", { id, protocol: "udp", partialupgrade: "false" });
    expect(itemsOf(tier)).toMatchObject([{ number: 7, protocol: "udp", cidrs: [] }]);
    expect(itemsOf(tier)[0]?.reason).toBeUndefined();
  });

  test("deleteNetworkACL deletes the item and its tags", async () => {
    const tier = addTier(rig, "web");
    const id = await create(tier);
    const tag = { "tags[0].key": "a", "tags[0].value": "b" };
    await rig.change("createTags", { resourceids: id, resourcetype: "NetworkACL", ...tag });
    await rig.ask("deleteNetworkACL", { id }, { method: "POST" });
    await rig.clock.advance(1);
    expect(itemsOf(tier)).toMatchObject([{ state: "Revoke" }]);
    await rig.clock.advance(rig.simulator.settings.jobMs);
    expect([itemsOf(tier), rig.simulator.state.tags.all]).toEqual([[], []]);
  });

  test.each(["updateNetworkACLItem", "deleteNetworkACL"])(
    "%s is refused in its job: for lists of others, and those that are always there",
    async (command) => {
      const tier = addTier(rig, "web");
      const id = await create(tier);
      const { aclId } = addTier(rig, "open", { acl: "allow" });
      const { state } = rig.simulator;
      const first = [...state.aclItems.values()].find((item) => item.listId === aclId);
      const number = "9";
      const run = (fields: Fields, username: string) => rig.change(command, fields, { username });
      expect(await run({ id, number }, "ops")).toMatchObject({ code: 530 });
      const fixed = { id: first?.id ?? "", number };
      for (const username of ["kubeadmin", "admin"]) {
        expect(await run(fixed, username)).toMatchObject({ code: 431 });
      }
      expect((await rig.ask(command, { id: "none" })).status).toBe(431);
      expect([numbersOf(tier), state.aclItems.size]).toEqual([[1], 5]);
    },
  );

  test("updateNetworkACLItem refuses a number that is taken, and what does not fit", async () => {
    const tier = addTier(rig, "web");
    const id = await create(tier);
    await create(tier, { startport: "443" });
    const refused: Fields[] = [{ number: "2" }, { endport: "79" }, { protocol: "sctp" }];
    for (const fields of refused) {
      const done = await rig.change("updateNetworkACLItem", { id, ...fields });
      expect(done).toMatchObject({ code: 431 });
    }
    expect(await rig.change("updateNetworkACLItem", { id, number: "1" })).toMatchObject({
      code: 0,
    });
    expect(itemsOf(tier)).toMatchObject([{ number: 1, startPort: 80, endPort: 80 }, { number: 2 }]);
  });

  test("jobs of one list run at the same time, and each sends all of it", async () => {
    const tier = addTier(rig, "web");
    const first = await create(tier);
    rig.simulator.faults.set({ kind: "endlessJob" }, { command: "deleteNetworkACL", times: 1 });
    await rig.ask("deleteNetworkACL", { id: first }, { method: "POST" });
    await rig.clock.advance(1);
    await create(tier, { startport: "443" });
    expect(numbersOf(tier)).toEqual([2]);
  });

  test("only the root administrator changes a list of every account", async () => {
    const { state } = rig.simulator;
    state.aclLists.set("global", { id: "global", name: "global", description: "" });
    const fields = { aclid: "global", protocol: "tcp" };
    expect(await rig.change("createNetworkACL", fields)).toMatchObject({ code: 531 });
    const made = await rig.change("createNetworkACL", fields, { username: "admin" });
    expect(made.code).toBe(0);
    const { id } = made;
    expect(await rig.change("deleteNetworkACL", { id })).toMatchObject({ code: 530 });
    expect(state.aclItems.has(id)).toBe(true);
  });
});
