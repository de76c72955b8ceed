/**
 * What a look shows of each kind of network.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../../../lib/simulator/cloudstack/network_kinds.ts";
import { DEFAULT_ALLOW, toAclItem } from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toStickinessPolicy } from "../../../../../lib/simulator/cloudstack/world/stickiness.ts";
import { toClaim, useLook } from "../look_rig.ts";

const signal = new AbortController().signal;
const UID = "01234567-89ab-cdef-0123-456789abcdef";
const LB_NAME = "a0123456789abcdef0123456789abcde";
const { world, networks, vms, aclList, ownerId } = createNetworkKinds();
const rig = useLook(world);
const { observe, takeRequests } = rig;

/** Takes an inventory for Nodes in networks of these kinds. */
async function addNodes(...kinds: NetworkKind[]): Promise<void> {
  const nodes = kinds.flatMap((kind) => vms[kind].map(({ name }) => ({ name })));
  await rig.generation.listInventory(nodes, signal);
}

/** Adds a rule of the Service to a network. */
function addRule(kind: NetworkKind): string {
  const { state } = rig.simulator;
  const id = state.nextId("rule");
  const [ip] = state.publicIps.values();
  state.loadBalancerRules.set(id, {
    id,
    name: `${LB_NAME}-tcp-80`,
    ipId: ip?.id ?? "",
    networkId: networks[kind].id,
    accountId: ownerId,
    publicPort: 80,
    privatePort: 30_080,
    algorithm: "roundrobin",
    state: "Add",
    members: [],
  });
  return id;
}

describe("takeLook()", () => {
  test("shows what each network offers", async () => {
    const { networks: shown } = await observe();
    const find = (kind: NetworkKind) => shown.get(networks[kind].id);
    expect(find("isolated")).toMatchObject({ hasLoadBalancers: true, hasFirewall: true });
    expect(find("isolated")?.stickiness?.map(({ name }) => name)).toContain("SourceBased");
    expect(find("simple")?.stickiness).toBeUndefined();
    expect(find("open")).toMatchObject({ hasFirewall: false, hasNetworkAcl: false });
    expect(find("tier")).toMatchObject({ hasNetworkAcl: true, aclListId: aclList.id });
    expect(find("shared")).toMatchObject({ hasLoadBalancers: false });
  });

  test("shows the items of the lists of the Nodes' tiers, one request for each list", async () => {
    await addNodes("isolated", "tier");
    const view = await observe();
    expect(view.networks.get(networks.tier.id)?.aclListName).toBe("k8s-acl");
    const items = view.aclItems.get(aclList.id)?.toSorted((a, b) => a.number - b.number);
    expect(items).toMatchObject([
      { number: 1, startPort: 22, isAllow: true, isIngress: true, cidrs: ["10.0.0.0/8"] },
      { number: 100, protocol: "all", isAllow: false },
    ]);
    expect([...view.aclItems.keys()]).toEqual([aclList.id]);
    takeRequests();
    await observe();
    expect(takeRequests()).toMatchObject({ listNetworkACLs: 1 });
  });

  test("shows them already in the first look, if the caller knows the VMs of the Nodes", async () => {
    rig.instanceIds = new Set(vms.tier.map(({ id }) => id));
    expect([...(await observe()).aclItems.keys()]).toEqual([aclList.id]);
    expect(takeRequests()).toMatchObject({ listVirtualMachines: 1, listPublicIpAddresses: 1 });
  });

  test("is taken again if the caller knows of Nodes elsewhere", async () => {
    expect((await observe()).aclItems.size).toBe(0);
    rig.instanceIds = new Set(vms.tier.map(({ id }) => id));
    expect((await observe(60_000)).aclItems.size).toBe(1);
    takeRequests();
    await observe(60_000);
    expect(takeRequests()).toEqual({});
  });

  test("shows the items of the list of a rule's tier, also without a Node there", async () => {
    rig.claims = [toClaim(UID)];
    addRule("tier");
    expect([...(await observe()).aclItems.keys()]).toEqual([aclList.id]);
  });

  test("goes on to show the items of a list that the tier had, while an item of a Service is in it", async () => {
    rig.claims = [toClaim(UID)];
    await addNodes("tier");
    const { state } = rig.simulator;
    const reason = `Managed by Landfall for ${LB_NAME}`;
    const item = toAclItem({ list: aclList, number: 7, startPort: 80, reason });
    state.aclItems.set(item.id, item);
    await observe();
    const tier = state.networks.get(networks.tier.id);
    if (tier === undefined) throw new Error("There is no tier");
    state.networks.set(tier.id, { ...tier, aclId: DEFAULT_ALLOW.id });
    await rig.clock.advance(600_000);
    expect([...(await observe()).aclItems.keys()]).toEqual([aclList.id]);
    state.aclItems.delete(item.id);
    await observe();
    expect((await observe()).aclItems.size).toBe(0);
    state.networks.set(tier.id, tier);
  });

  test("asks for no items of the lists that nobody can change", async () => {
    await addNodes("tierAllow", "tierDeny");
    const { aclItems, networks: shown } = await observe();
    expect(aclItems.size).toBe(0);
    expect(shown.get(networks.tierAllow.id)?.aclListName).toBe("default_allow");
    expect(shown.get(networks.tierDeny.id)?.aclListName).toBe("default_deny");
    expect(takeRequests()).not.toHaveProperty("listNetworkACLs");
  });

  test("does not know the items of a list about which CloudStack refuses to answer", async () => {
    await addNodes("tier");
    rig.simulator.faults.set({ kind: "error", code: 531 }, { command: "listNetworkACLs" });
    expect((await observe()).aclItems.size).toBe(0);
  });

  test("fails if the role lacks the list of ACL items", async () => {
    await addNodes("tier");
    rig.simulator.faults.set({ kind: "error", code: 432 }, { command: "listNetworkACLs" });
    await expect(observe()).rejects.toMatchObject({ kind: "denied" });
  });

  test("asks for policies only where the network has stickiness", async () => {
    rig.claims = [toClaim(UID)];
    addRule("simple");
    expect((await observe()).policies.size).toBe(0);
    expect(takeRequests()).not.toHaveProperty("listLBStickinessPolicies");
  });

  describe("with stickiness", () => {
    const POLICY = "service.beta.kubernetes.io/cloudstack-load-balancer-stickiness-method-name";

    function addPolicy(ruleId: string): void {
      const policy = toStickinessPolicy({ ruleId, name: "left", parameters: { tablesize: "1k" } });
      rig.simulator.state.stickinessPolicies.set(policy.id, policy);
    }

    test("finds a policy that an earlier process left, and looks at it until it is gone", async () => {
      rig.claims = [toClaim(UID)];
      const ruleId = addRule("isolated");
      addPolicy(ruleId);
      expect((await observe()).policies.get(ruleId)).toMatchObject([
        { name: "left", method: "SourceBased", params: new Map([["tablesize", "1k"]]) },
      ]);
      rig.simulator.state.stickinessPolicies.clear();
      expect((await observe()).policies.get(ruleId)).toEqual([]);
      takeRequests();
      await observe();
      expect(takeRequests()).not.toHaveProperty("listLBStickinessPolicies");
    });

    test("looks again at the policies of a Service that asks for one", async () => {
      rig.claims = [toClaim(UID, { annotations: { [POLICY]: "SourceBased" } })];
      const ruleId = addRule("isolated");
      expect((await observe()).policies.get(ruleId)).toEqual([]);
      addPolicy(ruleId);
      expect((await observe()).policies.get(ruleId)).toHaveLength(1);
    });

    test("does without the command if the role lacks it", async () => {
      rig.claims = [toClaim(UID)];
      const ruleId = addRule("isolated");
      rig.simulator.faults.set(
        { kind: "error", code: 432 },
        { command: "listLBStickinessPolicies" },
      );
      const { rules, policies } = await observe();
      expect([rules.has(ruleId), policies.has(ruleId)]).toEqual([true, false]);
    });
  });

  test("says what cannot be read, and shows the rest", async () => {
    const rule = { id: "0a1b2c3d-0000-4000-8000-00000000000a", name: "odd", publicport: "x" };
    const body = { listloadbalancerrulesresponse: { count: 1, loadbalancerrule: [rule] } };
    rig.simulator.faults.set({ kind: "json", body }, { command: "listLoadBalancerRules" });
    const { unreadable, rules, addresses } = await observe();
    expect(unreadable).toMatchObject([{ kind: "rule", id: rule.id, name: "odd" }]);
    expect(rules.size).toBe(0);
    expect(addresses.size).toBeGreaterThan(0);
  });
});
