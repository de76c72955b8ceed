/**
 * Load balancers by the provider, and the store of what looks showed.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type {
  LiveServices,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import type { Provider } from "../../../../lib/cloud/provider.ts";
import { CloudStackLoadBalancers } from "../../../../lib/providers/cloudstack/load_balancers/load_balancers.ts";
import type {
  Rule,
  Observation,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { cloudStack } from "../../../../lib/providers/cloudstack/mod.ts";
import { toUser } from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../../../lib/simulator/cloudstack/mod.ts";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../support/cloud/cloudstack_network_kinds.ts";
import type { Step } from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { ask } from "../../../support/cloud/cloudstack_asks.ts";
import { type ChangingProvider, createChanging } from "../../../support/cloud/changing_provider.ts";
import {
  formatRuleName,
  toLbName,
} from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { PACE, PacedClock } from "../../../support/paced_clock.ts";
import { until } from "../../../support/nodes/rig.ts";
import { toDeps } from "../fake_server.ts";
import { toClaim } from "./observer_rig.ts";
import { array, assert, boolean, constantFrom, property, record } from "fast-check";
import {
  type Found,
  ObservationStore,
  type OpenObservation,
} from "../../../../lib/providers/cloudstack/load_balancers/store.ts";
import {
  byId,
  toAclItem,
  toAddress,
  toFirewallRule,
  toFound,
  toPolicy,
  toRule,
} from "./objects.ts";
import { toLoadBalancerRule } from "../../../support/cloud/cloudstack_rules.ts";

const signal = new AbortController().signal;
const CLUSTER = "11111111-1111-4111-8111-111111111111";
const UID = "01234567-89ab-cdef-0123-456789abcdef";
/** Jobs are asked about after a while. */

let kinds: ReturnType<typeof createNetworkKinds>;
let kind: NetworkKind;
let simulator: CloudStackSimulator;
let provider: Provider;
let change: ChangingProvider<ReturnType<typeof toSettings>>["change"];

/** Starts a provider for Nodes in one kind of network. */
async function start(options: { kind: NetworkKind; isInProject?: boolean }): Promise<void> {
  const clock = new PacedClock(PACE);
  const { isInProject = false } = options;
  ({ kind } = options);
  kinds = createNetworkKinds({ isInProject });
  simulator = await startCloudStackSimulator({ clock, world: kinds.world });
  const settings = toSettings(isInProject ? { projectId: kinds.projectId } : {});
  ({ provider, change } = createChanging(cloudStack, settings, { ...toDeps(), clock }));
  balancers().setClusterIds([CLUSTER]);
  await provider.listInventory(
    kinds.vms[kind].map(({ name }) => ({ name })),
    signal,
  );
}

function toSettings(over: object = {}) {
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const { settings, issues } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey, ...over }, {});
  if (settings === undefined) throw new Error(JSON.stringify(issues));
  return settings;
}

function balancers(): CloudStackLoadBalancers {
  const { loadBalancers } = provider;
  if (loadBalancers instanceof CloudStackLoadBalancers) return loadBalancers;
  throw new Error("there are no load balancers of CloudStack");
}

function observe(maxAgeMs = 60_000): Promise<Observation> {
  return balancers().observe({ claims: () => [toSpec()], maxAgeMs }, signal);
}

/** How many looks CloudStack saw since the last time this was called. */
function takeLooks(): number {
  const count = simulator.requests.count("listPublicIpAddresses");
  simulator.requests.reset();
  return count;
}

function toSpec(record?: string): LoadBalancerSpec {
  const backends = kinds.vms[kind].map(({ id, name, nics }) => ({
    nodeName: name,
    instanceId: id,
    internalIps: nics.flatMap(({ ipAddress }) => ipAddress ?? []),
  }));
  return {
    ...toClaim(UID, record === undefined ? {} : { record }),
    ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
    trafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    backends,
  };
}

/** A cluster with this one Service. */
function toLive(uid: string): LiveServices {
  return { uids: new Set([uid]), addresses: new Set() };
}

/** What is there before {@linkcode converge}, and what happens meanwhile. */
interface Course {
  readonly record?: string | undefined;
  readonly beforeStep?: (step: Step) => void;
}

/** Works as the controller does, until a plan has no steps. */
async function converge({ record: before, beforeStep }: Course = {}): Promise<{
  steps: number;
  record: string | undefined;
}> {
  let record = before;
  const keeper = {
    save: (text: string | undefined): Promise<void> => {
      record = text;
      return Promise.resolve();
    },
  };
  for (let steps = 0; steps < 30; steps += 1) {
    const claims = () => [toSpec(record)];
    const observation = await balancers().observe({ claims, maxAgeMs: 60_000 }, signal);
    const [step] = balancers().plan(observation, toSpec(record)).steps;
    if (step === undefined) return { steps, record };
    beforeStep?.(step);
    await balancers().apply(step, keeper, signal);
  }
  throw new Error("there is always another step");
}

/** Another program sends traffic to a VM, too. */
function addByHand(vmId: string): void {
  for (const { members } of simulator.state.loadBalancerRules.values()) {
    members.push({ vmId, ip: "10.1.1.9", isRevoked: false });
  }
}

function toKeys(username: string): object {
  const found = [...simulator.state.users.values()].find((user) => user.username === username);
  return { apiKey: found?.apiKey, secretKey: found?.secretKey };
}

describe("CloudStackLoadBalancers", () => {
  beforeEach(() => start({ kind: "isolated" }));
  afterEach(() => simulator.stop());

  test("comes to rest with the load balancer that a Service asks for, after one look", async () => {
    expect((await converge()).steps).toBeGreaterThan(0);
    const [rule] = simulator.state.loadBalancerRules.values();
    expect(rule).toMatchObject({ publicPort: 80, privatePort: 30_080, state: "Active" });
    expect(rule?.members.map(({ vmId }) => vmId).toSorted()).toEqual(
      kinds.vms[kind].map(({ id }) => id).toSorted(),
    );
    expect(simulator.requests.count("listFirewallRules")).toBe(1);
    expect((await converge()).steps).toBe(0);
  });

  test.each<[string, (vmId: string) => unknown, backends: number]>([
    ["was expunged", (id) => simulator.state.expunge(id), 1],
    ["was purged", (id) => simulator.state.purge(id), 1],
    ["left the network", (id) => simulator.state.vm(id).nics.splice(0), 1],
    ["is a backend already", addByHand, 2],
  ])("adds the other VMs at once if one %s since the last list", async (_what, spoil, backends) => {
    const [vm] = kinds.vms[kind];
    let tries = 0;
    const beforeStep = ({ change: { kind: what } }: Step): void => {
      if (what !== "addBackends") return;
      tries += 1;
      if (tries === 1) spoil(vm?.id ?? "");
    };
    await converge({ beforeStep });
    const [rule] = simulator.state.loadBalancerRules.values();
    expect([tries, rule?.members.length]).toEqual([2, backends]);
  });

  test("lists its address as left over when the Service is gone, and not before", async () => {
    await converge();
    const observation = await observe();
    const [rule] = simulator.state.loadBalancerRules.values();
    expect(balancers().listLeftovers(observation, toLive(UID))).toEqual([]);
    const [leftover, ...more] = balancers().listLeftovers(observation, toLive("other"));
    expect(leftover).toMatchObject({
      id: rule?.ipId,
      service: "shop/web",
      serviceUid: UID,
      rules: 1,
    });
    expect(more).toEqual([]);
  });

  test.each<[NetworkKind, "an account" | "a project"]>([
    ["isolated", "an account"],
    ["isolated", "a project"],
    ["open", "an account"],
    ["tier", "a project"],
  ])("knows what it changed as well as a new look does: network %s of %s", async (one, owner) => {
    await simulator.stop();
    await start({ kind: one, isInProject: owner === "a project" });
    expect((await converge()).steps).toBeGreaterThan(0);
    const known = await observe();
    const seen = await observe(0);
    // Only the server knows whether there are rules that a look does not show. Items are in no order.
    const toParts = (observation: Observation): object => ({
      addresses: new Map(
        [...observation.addresses].map(([id, one]) => [id, { ...one, hasRules: 0 }]),
      ),
      rules: observation.rules,
      firewallRules: observation.firewallRules,
      members: observation.members,
      policies: observation.policies,
      aclItems: [...observation.aclItems.values()]
        .flat()
        .toSorted((one, two) => one.number - two.number),
    });
    expect(toParts(known)).toEqual(toParts(seen));
  });

  /** A rule with the name that Leaseweb's provider gives it, on an address of its own. */
  function leaveRule(name: string, hasNodes: boolean): string {
    const { state } = simulator;
    const networkId = kinds.networks[kind].id;
    const ip = [...state.publicIps.values()].find((one) => one.state === "Free");
    if (ip === undefined) throw new Error("no address is free");
    Object.assign(ip, { state: "Allocated", networkId, accountId: kinds.ownerId });
    const vms = hasNodes ? kinds.vms[kind] : [];
    const rule = toLoadBalancerRule({ ip, name, cidrList: "0.0.0.0/0", vms });
    state.loadBalancerRules.set(rule.id, rule);
    return rule.id;
  }

  test.each<[string, string, hasNodes: boolean, isOurs: boolean]>([
    ["with its Nodes", "K8s_svc_my_cluster_shop_web-tcp-80", true, true],
    ["of another cluster", "K8s_svc_my_cluster_shop_web-tcp-80", false, false],
    ["of another namespace", "K8s_svc_my_cluster_web_web-tcp-80", true, false],
    ["of another Service", "K8s_svc_my_cluster_shop_web-2-tcp-80", true, false],
  ])(
    "takes over a rule of Leaseweb's provider %s or leaves it",
    async (_what, name, nodes, ours) => {
      const id = leaveRule(name, nodes);
      await converge();
      const { loadBalancerRules, publicIps } = simulator.state;
      expect(loadBalancerRules.get(id)?.name).toBe(
        ours ? formatRuleName(toLbName(UID), "tcp", 80) : name,
      );
      expect(loadBalancerRules.size).toBe(ours ? 1 : 2);
      const tags = balancers().listLeftovers(await observe(0), toLive("other"));
      const ip = publicIps.get(loadBalancerRules.get(id)?.ipId ?? "");
      expect(tags.some((one) => one.ip === ip?.address)).toBe(ours);
    },
  );

  test("does nothing while another CloudStack answers that knows nothing of the cluster", async () => {
    const { record } = await converge();
    const ingress = [{ ip: "198.51.100.10" }];
    const lists = ["listLoadBalancerRules", "listPublicIpAddresses", "listFirewallRules"];
    const command = [...lists, "listVirtualMachines"];
    const end = simulator.faults.set({ kind: "emptyList" }, { command });
    const elsewhere = await observe(0);
    const served = { ...toSpec(record), ingress };
    for (const planned of [
      balancers().plan(elsewhere, served),
      balancers().planRelease(elsewhere, served),
    ]) {
      expect(planned).toMatchObject({ steps: [], problems: [{ reason: "NotKnown" }] });
      expect(planned.ingress).toBeUndefined();
    }
    end();
    const back = await observe(0);
    expect(balancers().plan(back, served).problems).toEqual([]);
    expect(balancers().planRelease(back, served).steps).not.toEqual([]);
  });

  describe("of a process that starts", () => {
    const command = "listVirtualMachines";
    const countLists = (): number => simulator.requests.count(command);
    const slowDown = (): unknown => simulator.faults.set({ kind: "delay", ms: 2_000 }, { command });
    beforeEach(async () => {
      await converge();
      provider = cloudStack.create(toSettings(), { ...toDeps(), clock: new PacedClock(PACE) });
      balancers().setClusterIds([CLUSTER]);
      simulator.requests.reset();
    });

    test("look at the list of VMs that the inventory reads at the time", async () => {
      const [inventory, { vms }] = await Promise.all([
        provider.listInventory([], signal),
        observe(),
      ]);
      expect(vms.size).toBe(inventory.instances.size);
      expect(countLists()).toBe(1);
    });

    test("read one themselves if that of the inventory ends", async () => {
      slowDown();
      const ended = new AbortController();
      const inventory = provider.listInventory([], ended.signal).catch(() => "ended");
      const observed = observe();
      await until("the list is asked for", () => countLists() > 0);
      ended.abort();
      expect(await inventory).toBe("ended");
      expect((await observed).vms.size).toBeGreaterThan(0);
    });

    test("leave an inventory its own list: its Nodes may be newer than another", async () => {
      slowDown();
      const observed = observe();
      await until("the list is asked for", () => countLists() > 0);
      await provider.listInventory([], signal);
      await observed;
      expect(countLists()).toBe(2);
    });
  });

  test("takes no list that began before a look as proof of which CloudStack this is", async () => {
    await observe();
    simulator.requests.reset();
    const command = "listVirtualMachines";
    simulator.faults.set({ kind: "delay", ms: 2_000 }, { command });
    const inventory = provider.listInventory([{ name: kinds.vms[kind][0]?.name ?? "" }], signal);
    await until("the list is asked for", () => simulator.requests.count(command) > 0);
    expect(await observe(0)).toMatchObject({ isOurCloud: true });
    await inventory;
    expect(simulator.requests.count(command)).toBe(2);
  });

  test("waits for the first inventory if nothing else shows which CloudStack this is", async () => {
    const deps = { ...toDeps(), clock: new PacedClock(PACE) };
    provider = cloudStack.create(toSettings(), deps);
    balancers().setClusterIds([CLUSTER]);
    await expect(observe()).rejects.toMatchObject({ kind: "unreachable" });
    await provider.listInventory([], signal);
    expect(await observe()).toMatchObject({ isOurCloud: false });
  });

  test("keeps the last look under settings that do not change what is asked", async () => {
    await observe();
    takeLooks();
    change(toSettings({ region: "north" }));
    await observe();
    expect(takeLooks()).toBe(0);
  });

  test.each<[string, () => object]>([
    ["another version", () => ({ version: "4.20" })],
    ["other keys", () => toKeys("admin")],
    ["another project", () => ({ projectId: kinds.projectId })],
  ])("looks again with %s", async (_what, toMore) => {
    await observe();
    takeLooks();
    change(toSettings(toMore()));
    await provider.listInventory([], signal);
    const observation = await observe();
    expect(takeLooks()).toBe(1);
    expect(observation).toMatchObject({ clusterIds: [CLUSTER] });
  });

  test("shows another project without what was seen in the one before", async () => {
    await converge();
    change(toSettings({ projectId: kinds.projectId }));
    await provider.listInventory([], signal);
    expect(await observe()).toMatchObject({ rules: new Map(), addresses: new Map() });
  });

  test("refuses a step that was planned for another project", async () => {
    const observation = await observe();
    const [step] = balancers().plan(observation, toSpec()).steps;
    if (step === undefined) throw new Error("there is nothing to do");
    change(toSettings({ projectId: kinds.projectId }));
    simulator.requests.reset();
    const applying = balancers().apply(step, { save: () => Promise.resolve() }, signal);
    await expect(applying).rejects.toMatchObject({ kind: "unreachable" });
    expect(simulator.requests.total).toBe(0);
  });

  test("waits with other keys for a job that the revoked ones started", async () => {
    const observation = await observe();
    const [step] = balancers().plan(observation, toSpec()).steps;
    if (step === undefined) throw new Error("there is nothing to do");
    const command = "queryAsyncJobResult";
    const isAsked = (): boolean => simulator.requests.count(command) > 0;
    const end = simulator.faults.set({ kind: "html", status: 503 }, { command });
    const applying = balancers().apply(step, { save: () => Promise.resolve() }, signal);
    await until("the job is asked about", isAsked);
    Object.assign(simulator.user, { apiKey: "other-key", secretKey: "other-secret" });
    change(toSettings({ apiKey: "other-key", secretKey: "other-secret" }));
    end();
    await applying;
  });

  test.each([
    ["is taking", "Allocating", { jobMs: 5_000 }],
    ["took right after the record", "Allocated", {}],
    ["took hours after the record", "Allocated", { clockSkewMs: 7_200_000 }],
  ])("leaves an address alone that another user %s", async (_when, before, changes) => {
    const observation = await observe();
    const [step] = balancers().plan(observation, toSpec()).steps;
    if (step === undefined) throw new Error("there is nothing to do");
    let record: string | undefined;
    const save = (text: string | undefined): Promise<void> => {
      record = text;
      return Promise.reject(new Error("killed"));
    };
    await expect(balancers().apply(step, { save }, signal)).rejects.toThrow("killed");
    const { state, settings, user } = simulator;
    const account = state.accounts.get(user.accountId);
    if (account === undefined) throw new Error("the user has no account");
    const other = toUser({ username: "deployer", account });
    state.users.set(other.id, other);
    const [, ipaddress = ""] = /"ip":"([^"]+)"/.exec(record ?? "") ?? [];
    const usual = { ...settings };
    Object.assign(settings, changes);
    const fields = { networkid: kinds.networks[kind].id, ipaddress };
    const { username } = other;
    await ask(simulator, "associateIpAddress", fields, { method: "POST", username });
    Object.assign(settings, usual);
    const taken = [...state.publicIps.values()].find(({ address }) => address === ipaddress);
    await until("the address is the user's", () => taken?.state === before);
    await converge({ record });
    expect(taken).toMatchObject({ state: "Allocated" });
    expect(state.tags.of(taken?.id ?? "")).toEqual([]);
    expect([...state.loadBalancerRules.values()].map(({ ipId }) => ipId)).not.toContain(taken?.id);
    expect(state.loadBalancerRules.size).toBe(1);
  });

  test("a look is no inventory: Nodes wait for one after new settings", async () => {
    const [node] = kinds.vms[kind].map(({ name }) => ({ name }));
    const inventory = await provider.listInventory([], signal);
    await converge();
    change(toSettings({ version: "4.20" }));
    await observe();
    const presence = await provider.readInstance(inventory, node ?? { name: "" }, signal);
    expect(presence).toMatchObject({ kind: "unknown", reason: "noInventory" });
  });
});

let store: ObservationStore;

function look(found: Found): void {
  store.finish(store.begin(), found);
}

/** The observation that there must be. */
function observation(): Observation {
  if (store.observation === undefined) throw new Error("there is no observation");
  return store.observation;
}

const [ADDRESS, OTHER, NEW_ADDRESS] = [toAddress("ip"), toAddress("other"), toAddress("new")];
const [RULE, FOREIGN] = [toRule("rule"), toRule("foreign", { addressId: "other" })];
const [OPENED, OTHERS] = [toFirewallRule("fw"), toFirewallRule("fw-other", { addressId: "other" })];
const [ITEM, NEW_ITEM] = [toAclItem("item"), toAclItem("new")];
const [POLICY, STICKY] = [toPolicy("policy"), toPolicy("policy", { method: "SourceBased" })];
const NARROW = toFirewallRule("fw", { cidrs: ["10.0.0.0/8"] });

const FULL = toFound({
  addresses: byId(ADDRESS, OTHER),
  rules: byId(RULE, FOREIGN),
  firewallRules: byId(OPENED, OTHERS),
  aclItems: new Map([["acl", [ITEM]]]),
  members: new Map([["rule", new Set(["vm-1"])]]),
  policies: new Map([["rule", [POLICY]]]),
});

/** The members and policies of the rule after a change: those of no other rule are known. */
function withParts(vmIds: readonly string[], policies = [POLICY]): Partial<Observation> {
  return { members: new Map([["rule", new Set(vmIds)]]), policies: new Map([["rule", policies]]) };
}

const NO_PARTS = { members: new Map(), policies: new Map() };
const BARE = toRule("rule", { state: "Add" });
const SOURCE = toRule("rule", { algorithm: "source" });

/** Each change, and what the observation shows after it. */
const CHANGES: readonly (readonly [
  string,
  (store: ObservationStore) => void,
  Partial<Observation>,
])[] = [
  [
    "putAddress",
    (one) => one.putAddress(NEW_ADDRESS),
    { addresses: byId(ADDRESS, OTHER, NEW_ADDRESS) },
  ],
  [
    "dropAddress, which takes everything on it away",
    (one) => one.dropAddress("ip"),
    {
      addresses: byId(OTHER),
      rules: byId(FOREIGN),
      firewallRules: byId(OTHERS),
      ...NO_PARTS,
    },
  ],
  [
    "putRule of a new rule, which has no members and no policies",
    (one) => one.putRule(toRule("new")),
    {
      rules: byId(RULE, FOREIGN, toRule("new")),
      members: new Map([...FULL.members, ["new", new Set()]]),
      policies: new Map([...FULL.policies, ["new", []]]),
    },
  ],
  [
    "putRule of a rule that is there, which keeps its members",
    (one) => one.putRule(SOURCE),
    { rules: byId(SOURCE, FOREIGN) },
  ],
  ["drop of a rule", (one) => one.drop("rule", "rule"), { rules: byId(FOREIGN), ...NO_PARTS }],
  ["addMembers", (one) => one.addMembers("rule", ["vm-2"]), withParts(["vm-1", "vm-2"])],
  ["addMembers of a rule whose are not known", (one) => one.addMembers("foreign", ["vm-2"]), {}],
  [
    "removeMembers",
    (one) => one.removeMembers("rule", ["vm-1", "vm-9"]),
    { ...withParts([]), rules: byId(BARE, FOREIGN) },
  ],
  [
    "putFirewallRule",
    (one) => one.putFirewallRule(NARROW),
    { firewallRules: byId(NARROW, OTHERS) },
  ],
  [
    "drop of a firewall rule",
    (one) => one.drop("firewallRule", "fw"),
    { firewallRules: byId(OTHERS) },
  ],
  [
    "putAclItem",
    (one) => one.putAclItem(NEW_ITEM),
    { aclItems: new Map([["acl", [ITEM, NEW_ITEM]]]) },
  ],
  [
    "putAclItem of a list that is not known: it stays so",
    (one) => one.putAclItem(toAclItem("new", { listId: "unknown" })),
    {},
  ],
  [
    "drop of an ACL item",
    (one) => one.drop("aclItem", "item"),
    { aclItems: new Map([["acl", []]]) },
  ],
  ["setPolicies", (one) => one.setPolicies("rule", [STICKY]), withParts(["vm-1"], [STICKY])],
  [
    "setPolicies that are not known: they stay so",
    (one) => one.setPolicies("foreign", [STICKY]),
    {},
  ],
  ["drop of a policy", (one) => one.drop("policy", "policy"), withParts(["vm-1"], [])],
];

describe("ObservationStore", () => {
  beforeEach(() => {
    store = new ObservationStore();
  });

  test("has no observation before the first look, whatever changes", () => {
    store.putRule(toRule("rule"));
    expect([store.observation, store.isValid]).toEqual([undefined, false]);
  });

  test.each(CHANGES)("shows after %s", (_what, change, expected) => {
    look(FULL);
    change(store);
    expect(observation()).toMatchObject({ ...FULL, ...expected });
    for (const [key, value] of Object.entries({ ...FULL, ...expected })) {
      expect(new Map(Object.entries(observation())).get(key)).toEqual(value);
    }
  });

  test.each(CHANGES)("an observation does not change by %s", (_what, change) => {
    look(FULL);
    for (const [, other] of CHANGES) {
      other(store);
      const before = observation();
      const text = structuredClone({ ...before });
      change(store);
      expect({ ...before }).toEqual(text);
    }
  });

  test.each(CHANGES)(
    "a look that was being taken while %s ended does not bring back the state before",
    (_what, change, expected) => {
      look(FULL);
      const slow = store.begin();
      change(store);
      store.finish(slow, FULL);
      expect({ ...observation() }).toMatchObject({ ...FULL, ...expected });
      for (const [key, value] of Object.entries(expected)) {
        expect(new Map(Object.entries(observation())).get(key)).toEqual(value);
      }
    },
  );

  test("shows the cloud after any changes and looks, in any order", () => {
    // A change is in the cloud some time before it is reported; a look reads the cloud some time after it began.
    const events = array(
      record({
        kind: constantFrom("commit", "report", "begin", "read", "finish"),
        id: constantFrom("a", "b", "c"),
        isRemoval: boolean(),
      }),
      { maxLength: 30 },
    );
    assert(
      property(events, (all) => {
        const tested = new ObservationStore();
        tested.finish(tested.begin(), toFound());
        let cloud = new Map<string, Rule>();
        const unreported: (() => void)[] = [];
        let open: OpenObservation | undefined;
        let seen: ReadonlyMap<string, Rule> | undefined;
        const finish = (): void => {
          if (open && seen) tested.finish(open, toFound({ rules: seen }));
          if (open && !seen) tested.abandon(open);
          [open, seen] = [undefined, undefined];
        };
        for (const [at, { kind, id, isRemoval }] of all.entries()) {
          if (kind === "begin") open ??= tested.begin();
          if (kind === "read" && open) seen ??= new Map(cloud);
          if (kind === "finish") finish();
          if (kind === "report") unreported.shift()?.();
          if (kind !== "commit") continue;
          const rule = toRule(id, { publicPort: at });
          cloud = new Map(cloud);
          if (isRemoval) cloud.delete(id);
          else cloud.set(id, rule);
          unreported.push(() => (isRemoval ? tested.drop("rule", id) : tested.putRule(rule)));
        }
        for (const report of unreported) report();
        finish();
        expect(new Map(tested.observation?.rules)).toEqual(cloud);
      }),
    );
  });

  test("shows the same map while nothing in it changes", () => {
    look(FULL);
    const { firewallRules } = observation();
    store.drop("firewallRule", "unknown");
    expect(observation().firewallRules).toBe(firewallRules);
  });

  test("a look that began after a change shows what the cloud says", () => {
    look(FULL);
    store.drop("rule", "rule");
    look(FULL);
    expect(observation().rules.has("rule")).toBe(true);
  });

  test("a look that saw a new rule with its members keeps them", () => {
    look(toFound());
    const slow = store.begin();
    store.putRule(toRule("rule"));
    store.finish(slow, FULL);
    expect(observation().members.get("rule")).toEqual(new Set(["vm-1"]));
    expect(observation().policies.get("rule")).toHaveLength(1);
  });

  test("a look that saw a new rule, but could not read its members, does not know them", () => {
    look(toFound());
    const slow = store.begin();
    store.putRule(toRule("rule"));
    store.addMembers("rule", ["vm-1"]);
    store.finish(slow, toFound({ rules: byId(toRule("rule")) }));
    expect(observation().members.get("rule")).toBeUndefined();
  });

  test("a rule is active as soon as it has a member", () => {
    look(toFound());
    store.putRule(toRule("rule", { state: "Add" }));
    store.addMembers("rule", ["vm-1"]);
    expect(observation().rules.get("rule")?.state).toBe("Active");
  });

  test("a rule that is being deleted stays so", () => {
    const rules = byId(toRule("rule", { state: "Revoke" }));
    look(toFound({ rules, members: new Map([["rule", new Set()]]) }));
    store.addMembers("rule", ["vm-1"]);
    expect(observation().rules.get("rule")?.state).toBe("Revoke");
  });

  test("the first rule of a VPC's address binds it to a tier, the last one frees it", () => {
    const { networkId: _, ...address } = toAddress("ip", { vpcId: "vpc" });
    look(toFound({ addresses: byId(address) }));
    const findTier = (): string | undefined => observation().addresses.get("ip")?.networkId;
    store.putRule(toRule("one", { networkId: "tier" }));
    store.putRule(toRule("two", { networkId: "tier" }));
    expect(findTier()).toBe("tier");
    store.drop("rule", "one");
    expect(findTier()).toBe("tier");
    store.putFirewallRule(toFirewallRule("three"));
    store.drop("rule", "two");
    expect(findTier()).toBe("tier");
    store.drop("firewallRule", "three");
    expect(findTier()).toBeUndefined();
  });

  test.each<[string, (one: ObservationStore) => void]>([
    ["putRule", (one) => one.putRule(toRule("new"))],
    ["drop of a rule", (one) => one.drop("rule", "rule")],
    ["putFirewallRule", (one) => one.putFirewallRule(toFirewallRule("new"))],
    ["drop of a firewall rule", (one) => one.drop("firewallRule", "fw")],
  ])(
    "after %s nobody knows whether the address has rules that a look does not show",
    (_what, change) => {
      const addresses = byId(
        toAddress("ip", { hasRules: true }),
        toAddress("other", { hasRules: true }),
      );
      look({ ...FULL, addresses });
      change(store);
      const found = ["ip", "other"].map((id) => observation().addresses.get(id)?.hasRules);
      expect(found).toEqual([undefined, true]);
    },
  );

  test("the address of an isolated network keeps it without rules", () => {
    look(FULL);
    store.drop("rule", "rule");
    expect(observation().addresses.get("ip")?.networkId).toBe("net");
  });

  test("gives the same observation while nothing changes", () => {
    look(FULL);
    const before = observation();
    store.setVms(before.vms);
    expect(observation()).toBe(before);
    expect(Object.isFrozen(before)).toBe(true);
  });

  test("adds VMs and the IDs of the cluster to every look", () => {
    const vms = new Map([["vm", { id: "vm", isGone: false, nics: [] }]]);
    look(FULL);
    store.setVms(vms);
    store.setClusterIds(["one", "two"]);
    expect(observation()).toMatchObject({ vms, clusterIds: ["one", "two"] });
    look(FULL);
    expect(observation()).toMatchObject({ vms, clusterIds: ["one", "two"] });
  });

  test("invalidate() asks for a look that begins later, and keeps the last one", () => {
    look(FULL);
    expect(store.isValid).toBe(true);
    const running = store.begin();
    store.invalidate();
    expect([store.isValid, running.isOutdated, observation().rules.size]).toEqual([false, true, 2]);
    store.finish(running, toFound());
    expect([store.isValid, observation().rules.size]).toEqual([false, 0]);
    look(toFound());
    expect(store.isValid).toBe(true);
  });

  test("remembers whose firewall rules are whose load-balancer rules went by themselves", () => {
    look(toFound({ addresses: byId(toAddress("ip")) }));
    store.putRule(toRule("rule", { name: "a1-tcp-80" }));
    store.putFirewallRule(toFirewallRule("fw"));
    const left = toFound({
      addresses: byId(toAddress("ip")),
      firewallRules: byId(toFirewallRule("fw")),
    });
    look(left);
    look(left);
    expect(observation().orphans).toEqual(new Map([["fw", "a1"]]));
    store.drop("firewallRule", "fw");
    look(left);
    expect(observation().orphans).toEqual(new Map());
  });

  test("a look that failed changes nothing", () => {
    look(FULL);
    const before = observation();
    store.abandon(store.begin());
    expect([store.isValid, observation() === before]).toEqual([true, true]);
  });

  test("forget() leaves nothing, and a look of before does not bring it back", () => {
    look(FULL);
    const before = store.begin();
    store.forget();
    store.finish(before, FULL);
    expect([store.observation, store.isValid]).toEqual([undefined, false]);
  });
});
