/**
 * Looks at the simulated CloudStack: what they show, what they cost, and who shares them.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { formatRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { Observation } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { settle } from "../../../support/manual_clock.ts";
import { toClaim, useLook } from "./observer_rig.ts";
import { byId, SIGNER, toAddress, toFound, toNetwork, toRule } from "./objects.ts";
import type { LoadBalancerClaim } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { findIdentityProblem } from "../../../../lib/providers/cloudstack/load_balancers/observer.ts";

const signal = new AbortController().signal;
const UID = "01234567-89ab-cdef-0123-456789abcdef";
const LB_NAME = "a0123456789abcdef0123456789abcde";
const LB_NETWORK = "0a1b2c3d-0000-4000-8000-00000000000b";
const story = createDemoWorld();
const rig = useLook(story.world);
const { observe, takeRequests } = rig;

function idOf(name: string): string {
  return story.machines.get(name)?.vmId ?? "";
}

/** Adds rules for ports from 8000 on, on an address of the demo's account, with these members. */
function addRules(count: number, vmNames: readonly string[], lbName = LB_NAME): string[] {
  const { state } = rig.simulator;
  const network = [...state.networks.values()].find(({ name }) => name === "k8s-paris");
  const ip = [...state.publicIps.values()].find((one) => one.accountId === story.accountIds.acme);
  return Array.from({ length: count }, (_, at) => {
    const id = state.nextId("rule");
    state.loadBalancerRules.set(id, {
      id,
      name: `${lbName}-tcp-${8_000 + at}`,
      ipId: ip?.id ?? "",
      networkId: network?.id ?? "",
      accountId: story.accountIds.acme,
      publicPort: 8_000 + at,
      privatePort: 30_080,
      algorithm: "roundrobin",
      state: "Active",
      members: vmNames.map((name) => ({ vmId: idOf(name), ip: "10.10.0.1", isRevoked: false })),
    });
    return id;
  });
}

const SLOW_MS = 1_000;

/** Begins a look that lasts until the clock moves on. It is alone: who asks now may share it. */
async function startSlowly(): Promise<{ readonly slow: Promise<Observation> }> {
  const { faults } = rig.simulator;
  faults.set({ kind: "delay", ms: SLOW_MS }, { command: "listPublicIpAddresses", times: 1 });
  const slow = observe();
  while (faults.taken === 0) await settle();
  return { slow };
}

describe("Observer", () => {
  beforeEach(() => {
    rig.claims = [toClaim(UID)];
  });

  test("shows addresses, rules with their members, networks and VMs", async () => {
    const [ruleId = ""] = addRules(1, ["worker-1", "worker-2"]);
    const observation = await observe();
    const { state } = rig.simulator;
    const owned = [...state.publicIps.values()].filter(
      (one) => one.accountId === story.accountIds.acme,
    );
    expect([...observation.addresses.keys()].toSorted()).toEqual(
      owned.map(({ id }) => id).toSorted(),
    );
    expect(observation.rules.get(ruleId)).toMatchObject({
      name: `${LB_NAME}-tcp-8000`,
      publicPort: 8_000,
    });
    const workers = new Set([idOf("worker-1"), idOf("worker-2")]);
    expect(observation.members.get(ruleId)).toEqual(workers);
    expect([...observation.networks.values()].map(({ name }) => name)).toContain("k8s-paris");
    expect(observation.vms.get(idOf("worker-dual"))?.nics).toHaveLength(2);
    expect(observation).toMatchObject({
      version: { major: 4, minor: 22 },
      unreadable: [],
      takenAtMs: 0,
    });
  });

  test("costs three lists and one question about members, however many Services there are", async () => {
    addRules(40, ["worker-1"]);
    rig.claims = [UID, ...Array.from({ length: 50 }, (_, at) => `other-${at}`)].map((uid) =>
      toClaim(uid),
    );
    await observe();
    const first = takeRequests();
    expect(first).toMatchObject({ listNetworks: 1, listCapabilities: 1, listVirtualMachines: 1 });
    await observe();
    const inParis = [...rig.simulator.state.vms.values()].filter(
      ({ accountId, isRemoved, nics }) =>
        !isRemoved &&
        accountId === story.accountIds.acme &&
        nics.some(
          ({ networkId }) =>
            networkId === [...rig.simulator.state.loadBalancerRules.values()][0]?.networkId,
        ),
    );
    expect(takeRequests()).toEqual({
      listPublicIpAddresses: 1,
      listFirewallRules: 1,
      listLoadBalancerRules: 1 + inParis.length,
    });
  });

  test("asks about members rule by rule if there are fewer rules than VMs", async () => {
    addRules(1, ["worker-1"]);
    await observe();
    takeRequests();
    await observe();
    expect(takeRequests()).toEqual({
      listPublicIpAddresses: 1,
      listFirewallRules: 1,
      listLoadBalancerRules: 1,
      listLoadBalancerRuleInstances: 1,
    });
  });

  test("asks nothing about the members of foreign rules", async () => {
    const [foreign = ""] = addRules(1, ["worker-1"], "somebody");
    const observation = await observe();
    expect(observation.rules.has(foreign)).toBe(true);
    expect(observation.members.has(foreign)).toBe(false);
    expect(takeRequests()).not.toHaveProperty("listLoadBalancerRuleInstances");
  });

  test("is taken again for a Service that appeared since, if it has rules already", async () => {
    const [ruleId = ""] = addRules(1, ["worker-1"]);
    rig.claims = [];
    expect((await observe()).members.size).toBe(0);
    rig.claims = [toClaim("another")];
    await observe(60_000);
    takeRequests();
    rig.claims = [toClaim(UID)];
    expect((await observe(60_000)).members.get(ruleId)).toEqual(new Set([idOf("worker-1")]));
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1 });
    await observe(60_000);
    expect(takeRequests()).toEqual({});
  });

  test("is as old as the caller allows", async () => {
    await observe();
    takeRequests();
    await rig.clock.advance(999);
    expect((await observe(1_000)).takenAtMs).toBe(0);
    expect(takeRequests()).toEqual({});
    await rig.clock.advance(1);
    expect((await observe(1_000)).takenAtMs).toBe(1_000);
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1 });
  });

  test("is shared by all who ask at the same time", async () => {
    await Promise.all(Array.from({ length: 20 }, () => observe()));
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1, listLoadBalancerRules: 1 });
  });

  test("is followed by one more for those who asked after it began", async () => {
    const { slow: first } = await startSlowly();
    await rig.clock.advance(10);
    const later = [observe(), observe(), observe(5)];
    const young = observe(10);
    addRules(1, []);
    await rig.clock.advance(SLOW_MS);
    expect((await first).takenAtMs).toBe(0);
    expect((await young).takenAtMs).toBe(0);
    for (const one of later) {
      expect((await one).takenAtMs).toBeGreaterThan(10);
      expect((await one).rules.size).toBe(1);
    }
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 2 });
  });

  test("begins after a refusal for those who ask later, however young the last one is", async () => {
    await observe();
    takeRequests();
    rig.store.invalidate();
    await observe(60_000);
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1, listNetworks: 1 });
    await observe(60_000);
    expect(takeRequests()).toEqual({});
  });

  test("that failed leaves the last one to those who may use it", async () => {
    const [ruleId = ""] = addRules(1, []);
    await observe();
    await rig.clock.advance(1_000);
    rig.simulator.faults.set({ kind: "error", code: 530 }, { command: "listFirewallRules" });
    await expect(observe()).rejects.toMatchObject({ kind: "unreachable" });
    expect((await observe(60_000)).rules.has(ruleId)).toBe(true);
    rig.simulator.faults.clear();
    expect((await observe()).takenAtMs).toBe(1_000);
  });

  test.each([
    "listLoadBalancerRules",
    "listPublicIpAddresses",
    "listFirewallRules",
    "listNetworks",
    "listVirtualMachines",
  ])("fails without %s: what a list lacks would count as absent", async (command) => {
    rig.simulator.faults.set({ kind: "html", status: 502 }, { command });
    await expect(observe()).rejects.toMatchObject({ kind: "unreachable" });
    expect(rig.store.observation).toBeUndefined();
  });

  test("ends for one caller without ending for the others", async () => {
    const leaving = new AbortController();
    const { slow: other } = await startSlowly();
    const one = rig.look.observe({ claims: () => rig.claims, maxAgeMs: 0 }, leaving.signal);
    leaving.abort(new Error("left"));
    await expect(one).rejects.toThrow("left");
    await rig.clock.advance(SLOW_MS);
    expect((await other).takenAtMs).toBe(0);
  });

  test("asks who took an address that a record names, and is taken again for a new record", async () => {
    const { addresses } = await observe();
    const address = addresses.values().find(({ tags }) => tags.size === 0);
    const named = { id: address?.id ?? "", place: { networkId: LB_NETWORK }, wasFree: true };
    const record = formatRecord({ address: { ...named, atMs: 0 } }, UID, SIGNER) ?? "";
    rig.claims = [toClaim(UID, { record })];
    takeRequests();
    const { allocatedBy } = await observe(60_000);
    expect([...(allocatedBy ?? [])]).toEqual([[named.id, "us"]]);
    await observe(60_000);
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1 });
    expect(rig.askedTakers).toEqual([new Map([[named.id, 0]])]);
  });

  test("does not ask who took an address that this process took since", async () => {
    await observe();
    takeRequests();
    const taken = toAddress("0a1b2c3d-0000-4000-8000-00000000000a");
    rig.store.putAddress(taken);
    const named = { id: taken.id, place: { networkId: LB_NETWORK }, wasFree: true };
    const record = formatRecord({ address: { ...named, atMs: 0 } }, UID, SIGNER) ?? "";
    rig.claims = [toClaim(UID, { record })];
    expect((await observe(60_000)).addresses.get(taken.id)).toEqual(taken);
    expect(takeRequests()).toEqual({});
  });

  describe("proves that it is about the CloudStack of the cluster", () => {
    test("by a load balancer of the cluster, without another request", async () => {
      addRules(1, []);
      expect((await observe()).isOurCloud).toBe(true);
      takeRequests();
      expect((await observe()).isOurCloud).toBe(true);
      expect(takeRequests()).not.toHaveProperty("listVirtualMachines");
    });

    test("by the VM of a Node in a list of the same look", async () => {
      await rig.provider.listInventory([{ name: "worker-1" }], signal);
      await observe();
      takeRequests();
      await rig.clock.advance(1);
      expect((await observe()).isOurCloud).toBe(true);
      expect(takeRequests()).toMatchObject({ listVirtualMachines: 1 });
      await rig.clock.advance(1);
      rig.simulator.faults.set({ kind: "emptyList" }, { command: "listVirtualMachines" });
      expect((await observe()).isOurCloud).toBe(false);
      takeRequests();
      await observe(60_000);
      expect(takeRequests()).toEqual({});
    });

    test("by the VM of a Node that the caller knows, and no inventory yet", async () => {
      rig.instanceIds = new Set([idOf("worker-1")]);
      expect((await observe()).isOurCloud).toBe(true);
      rig.instanceIds = new Set(["0a1b2c3d-0000-4000-8000-00000000000a"]);
      expect((await observe()).isOurCloud).toBe(false);
    });

    test("as soon as more is known of Nodes, however young the last look is", async () => {
      expect((await observe(60_000)).isOurCloud).toBe(false);
      await rig.provider.listInventory([{ name: "worker-1" }], signal);
      expect((await observe(60_000)).isOurCloud).toBe(true);
      takeRequests();
      await rig.provider.listInventory([{ name: "worker-1" }], signal);
      takeRequests();
      await observe(60_000);
      expect(takeRequests()).toEqual({});
    });

    test("not without Nodes", async () => {
      await observe();
      takeRequests();
      await rig.clock.advance(1);
      expect((await observe()).isOurCloud).toBe(false);
      expect(takeRequests()).not.toHaveProperty("listVirtualMachines");
    });
  });

  test("shows the VMs of the newest inventory", async () => {
    await observe();
    const { options } = story.late;
    const vmId = rig.simulator.state.addVm(options);
    expect((await observe(60_000)).vms.has(vmId)).toBe(false);
    await rig.provider.listInventory([], signal);
    expect((await observe(60_000)).vms.has(vmId)).toBe(true);
  });

  test("is taken again when a Node appears in another network", async () => {
    await observe();
    takeRequests();
    await rig.provider.listInventory([{ name: "worker-1" }], signal);
    takeRequests();
    await observe(60_000);
    expect(takeRequests()).toMatchObject({ listPublicIpAddresses: 1 });
    await observe(60_000);
    expect(takeRequests()).toEqual({});
  });
});

const RULE = toRule("rule", { name: `${LB_NAME}-tcp-80` });

function toTagged(clusterId: string): Observation["addresses"] {
  return byId(toAddress("ip", { tags: new Map([["landfall.dev/cluster", clusterId]]) }));
}

describe("findIdentityProblem()", () => {
  const NETWORK_ID = "6f1b197b-ff64-59ca-990c-87be56993a9b";
  const ingress = [{ ip: "192.0.2.1" }];

  function find(over: Partial<Observation>, claim: Partial<LoadBalancerClaim> = {}) {
    const own = { clusterIds: ["one"] as const, vms: new Map(), recordSigner: SIGNER };
    const observation: Observation = { ...toFound(), ...own, ...over };
    return findIdentityProblem(observation, toClaim(UID, claim));
  }

  test.each<[string, Partial<LoadBalancerClaim>]>([
    ["an IP in its status", { ingress }],
    ["a hostname in its status", { ingress: [{ hostname: "lb.example.org" }] }],
    ["a record", { record: "anything" }],
  ])("a Service with %s waits while this may be another CloudStack", (_what, claim) => {
    const doubt = find({ isOurCloud: false }, claim);
    expect(doubt).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(doubt?.message).toContain("check api-url, project-id and the keys");
    expect(find({ isOurCloud: true }, claim)).toBeUndefined();
  });

  test("a Service does not wait once this process made its address or rule", () => {
    const over = { isOurCloud: false, addresses: toTagged("one") };
    expect(find(over, { ingress })).toBeUndefined();
    const rules = { rules: byId(RULE), addresses: byId(toAddress("ip")) };
    expect(find({ isOurCloud: false, ...rules }, { ingress })).toBeUndefined();
    expect(find({ isOurCloud: false, addresses: toTagged("three") }, { ingress })).toBeDefined();
  });

  test("a Service without any sign of a load balancer waits, too, if there are Nodes", () => {
    expect(find({ isOurCloud: false })).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(find({ isOurCloud: true })).toBeUndefined();
    expect(find({ isOurCloud: false, hasNoNodes: true })).toBeUndefined();
    expect(find({ isOurCloud: false, hasNoNodes: true }, { ingress })).toBeDefined();
  });

  test("without Nodes, a Service need not wait for the network of its record if that is shown", () => {
    const address = { place: { networkId: NETWORK_ID }, atMs: 0, wasFree: true };
    const record = formatRecord({ address }, UID, SIGNER) ?? "";
    const copied = formatRecord({ address }, UID.replace(/.$/, "0"), SIGNER) ?? "";
    const shown = { isOurCloud: false, networks: byId(toNetwork(NETWORK_ID)) };
    const over = { ...shown, hasNoNodes: true } as const;
    expect(find(over, { record })).toBeUndefined();
    expect(find({ ...over, networks: byId(toNetwork("other")) }, { record })).toBeDefined();
    expect(find(over, { record: copied })).toBeDefined();
    expect(find(over, { record, ingress })).toBeDefined();
    expect(find(shown, { record })).toBeDefined();
  });

  test("a Service waits while CloudStack shows a rule of it without its address", () => {
    const rules = byId(RULE);
    expect(find({ rules }, { ingress })).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(find({ rules, addresses: byId(toAddress("ip")) }, { ingress })).toBeUndefined();
    expect(find({ rules: byId(toRule("foreign")) }, { ingress })).toBeUndefined();
  });

  test("an address that cannot be read is there: the plan says what it means", () => {
    const unreadable = [{ kind: "address" as const, problem: "odd" }];
    expect(find({ rules: byId(RULE), unreadable }, { ingress })).toBeUndefined();
  });
});
