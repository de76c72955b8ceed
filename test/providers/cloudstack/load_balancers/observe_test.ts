/**
 * What a look shows of networks, addresses and backends.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../support/cloud/cloudstack_network_kinds.ts";
import { DEFAULT_ALLOW, toAclItem } from "../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toClaim, useLook } from "./observer_rig.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { Limiter } from "../../../../lib/core/concurrency.ts";
import { readMembers } from "../../../../lib/providers/cloudstack/load_balancers/observe.ts";
import {
  type BackendVm,
  listFirewallRulesFor,
  listFirewallRulesOn,
  listRulesOn,
  type Observation,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import { byId } from "./objects.ts";
import { readAllocatedBy } from "../../../../lib/providers/cloudstack/load_balancers/allocated_by.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { FakeCloudStack, KEYS, refuse, reply, toDeps, toSettings } from "../fake_server.ts";
import { plan } from "../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import { planRelease } from "../../../../lib/providers/cloudstack/load_balancers/release.ts";
import { toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER } from "./cloud/cloud_model.ts";
import { createCloud, DESCRIPTION, LB_NAME, OWNER, toSpec } from "./cloud/services.ts";
import { toStickinessPolicy } from "../../../support/cloud/cloudstack_rules.ts";
import { longTest } from "../../../support/long_tests.ts";

const signal = new AbortController().signal;
const UID = "01234567-89ab-cdef-0123-456789abcdef";
const OWN_NAME = "a0123456789abcdef0123456789abcde";
const { world, networks, vms, aclList, ownerId } = createNetworkKinds();
const rig = useLook(world);
const { observe, takeRequests } = rig;

/** Takes an inventory for Nodes in networks of these kinds. */
async function addNodes(...kinds: NetworkKind[]): Promise<void> {
  const nodes = kinds.flatMap((kind) => vms[kind].map(({ name }) => ({ name })));
  await rig.provider.listInventory(nodes, signal);
}

/** Adds a rule of the Service to a network. */
function addRule(kind: NetworkKind): string {
  const { state } = rig.simulator;
  const id = state.nextId("rule");
  const [ip] = state.publicIps.values();
  state.loadBalancerRules.set(id, {
    id,
    name: `${OWN_NAME}-tcp-80`,
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

describe("observe()", () => {
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
    const observation = await observe();
    expect(observation.networks.get(networks.tier.id)?.aclListName).toBe("k8s-acl");
    const items = observation.aclItems.get(aclList.id)?.toSorted((a, b) => a.number - b.number);
    expect(items).toMatchObject([
      { number: 1, startPort: 22, isAllow: true, isIngress: true, cidrs: ["10.0.0.0/8"] },
      { number: 100, protocol: "all", isAllow: false },
    ]);
    expect([...observation.aclItems.keys()]).toEqual([aclList.id]);
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
    const reason = `Managed by Landfall for ${OWN_NAME}`;
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

interface World {
  /** Members by rule; `undefined` for an answer that cannot be read. */
  readonly members: Readonly<Record<string, readonly string[] | undefined>>;
  readonly vms?: readonly BackendVm[];
  /** Errors by the ID of what is asked about. */
  readonly errors?: Readonly<Record<string, Error>>;
  readonly ruleCount?: number;
}

function toVm(id: string, networkId: string = "net", isGone: boolean = false): BackendVm {
  return {
    id,
    isGone,
    nics: [
      { networkId: "other", ips: [] },
      { networkId, ips: [] },
    ],
  };
}

function toRefusal(code: number, text: string = "no"): ApiError {
  return new ApiError({ code, text }, { command: "list", secrets: [] });
}

/** Reads all members of a world, and counts questions. */
async function readAll({ members, vms, errors = {}, ruleCount }: World) {
  const asked: string[] = [];
  const ask = (id: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    asked.push(id);
    return errors[id] === undefined ? Promise.resolve(new Set(ids)) : Promise.reject(errors[id]);
  };
  const rules = Object.keys(members);
  const api = {
    listMembers: async (ruleId: string) => {
      const found = await ask(ruleId, members[ruleId] ?? []);
      return members[ruleId] && found;
    },
    listRulesOf: (vmId: string) =>
      ask(vmId, ["foreign", ...rules.filter((ruleId) => members[ruleId]?.includes(vmId))]),
  };
  const known = { vms: byId(...(vms ?? [toVm("hidden")])), isEveryVm: vms !== undefined };
  const look = { api, ...known, projectId: undefined, limiter: new Limiter(1) };
  const some = {
    rules: rules.map((id) => ({ id, networkId: "net" })),
    ruleCount: ruleCount ?? rules.length,
  };
  const found = await readMembers(look, some, signal);
  return { found: Object.fromEntries([...found].map(([id, ids]) => [id, [...ids]])), asked };
}

const MEMBERS = { r1: ["a"], r2: ["a", "b"], r3: [] };

describe("readMembers()", () => {
  test.each<[string, Omit<World, "members">, string[]]>([
    ["rule by rule without VMs", {}, ["r1", "r2", "r3"]],
    [
      "VM by VM if these are fewer",
      { vms: [toVm("a"), toVm("b"), toVm("c", "elsewhere"), toVm("d", "net", true)] },
      ["a", "b"],
    ],
    [
      "rule by rule if there are as many VMs",
      { vms: ["a", "b", "c"].map((id) => toVm(id)) },
      ["r1", "r2", "r3"],
    ],
    [
      "rule by rule if the answer for a VM takes several pages",
      { vms: [toVm("a"), toVm("b")], ruleCount: 501 },
      ["r1", "r2", "r3"],
    ],
  ])("reads %s", async (_what, world, expected) => {
    const { found, asked } = await readAll({ members: MEMBERS, ...world });
    expect(found).toEqual(MEMBERS);
    expect(asked).toEqual(expected);
  });

  test("asks nothing without rules", async () => {
    const { found, asked } = await readAll({ members: {}, vms: [toVm("a")] });
    expect([found, asked]).toEqual([{}, []]);
  });

  test("does not know the members of a rule about which CloudStack refuses to answer", async () => {
    const { found } = await readAll({ members: MEMBERS, errors: { r1: toRefusal(530) } });
    expect(found).toEqual({ r2: ["a", "b"], r3: [] });
  });

  test("does not know the members of a rule if the answer cannot be read", async () => {
    expect((await readAll({ members: { ...MEMBERS, r2: undefined } })).found).toEqual({
      r1: ["a"],
      r3: [],
    });
  });

  test.each([
    ["the role lacks the command", toRefusal(432)],
    ["there are too many requests", toRefusal(429)],
    ["the server does not answer", new CloudError("unreachable", "no answer")],
  ])("rejects when %s", async (_what, error) => {
    await expect(readAll({ members: MEMBERS, errors: { r2: error } })).rejects.toBe(error);
  });

  test("a VM that is gone since is behind no rule; any other refusal says nothing", async () => {
    const vms = [toVm("a"), toVm("b")];
    const gone = toRefusal(
      431,
      "Invalid parameter virtualmachineid value=b due to incorrect long value format, or entity does not exist",
    );
    const { found } = await readAll({ members: MEMBERS, vms, errors: { b: gone } });
    expect(found).toEqual({ r1: ["a"], r2: ["a"], r3: [] });
    const refusal = toRefusal(530);
    const refused = readAll({ members: MEMBERS, vms, errors: { b: refusal } });
    await expect(refused).rejects.toBe(refusal);
  });
});

const ADDRESS = "aaaaaaaa-2222-4333-8444-555555555555";
const OUR_USER = "bbbbbbbb-2222-4333-8444-555555555555";
const OTHER_USER = "cccccccc-2222-4333-8444-555555555555";
const AT_MS = Date.UTC(2026, 0, 2, 12);
const PROJECT = "eeeeeeee-2222-4333-8444-555555555555";

let fake: FakeCloudStack;
let session: CloudStackSession;
let users: object[];
let jobs: object[];
let events: object[];

let count = 0;

function toJob(userid: string, more: object = {}): object {
  count += 1;
  return {
    jobid: `dddddddd-2222-4333-8444-${String(count).padStart(12, "0")}`,
    userid,
    jobinstanceid: ADDRESS,
    jobstatus: 1,
    created: "2026-01-02T12:00:01+0000",
    cmd: "org.apache.cloudstack.api.command.user.address.AssociateIPAddrCmd",
    ...more,
  };
}

function toEvent(username: string, more: object = {}): object {
  count += 1;
  return {
    id: `ffffffff-2222-4333-8444-${String(count).padStart(12, "0")}`,
    username,
    type: "NET.IPASSIGN",
    level: "INFO",
    state: "Completed",
    resourceid: ADDRESS,
    created: "2026-01-02T12:00:02+0000",
    ...more,
  };
}

async function readTaker(): Promise<"us" | "others" | undefined> {
  const asked = new Map([[ADDRESS, AT_MS]]);
  const allocatedBy = await readAllocatedBy({ session, asked, projectId: PROJECT }, signal);
  return allocatedBy?.get(ADDRESS);
}

describe("readAllocatedBy()", () => {
  beforeEach(() => {
    users = [
      { id: OTHER_USER, username: "ops", apikey: "another" },
      { id: OUR_USER, username: "landfall", apikey: KEYS.apiKey },
    ];
    jobs = [];
    events = [];
    fake = new FakeCloudStack();
    fake.answer = ({ command }) => {
      if (command === "listUsers") return reply(command, { count: users.length, user: users });
      if (command === "listEvents") return reply(command, { count: events.length, event: events });
      return reply(command, { count: jobs.length, asyncjobs: jobs });
    };
    session = new CloudStackSession(toSettings(fake.url), toDeps());
  });
  afterEach(() => fake.stop());

  test.each<[string, () => object[], "us" | "others" | undefined]>([
    ["a job of our user", () => [toJob(OUR_USER)], "us"],
    ["a job of our user that runs", () => [toJob(OUR_USER, { jobstatus: 0 })], "us"],
    ["a job of another user", () => [toJob(OTHER_USER)], "others"],
    ["no job", () => [], undefined],
    ["a job for another address", () => [toJob(OUR_USER, { jobinstanceid: OUR_USER })], undefined],
    ["a job without an address", () => [toJob(OUR_USER, { jobinstanceid: undefined })], undefined],
    ["a job that failed", () => [toJob(OUR_USER, { jobstatus: 2 })], "others"],
    [
      "a job from long before",
      () => [toJob(OTHER_USER, { created: "2026-01-02T10:59:00+0000" })],
      undefined,
    ],
    [
      "a job of a server whose clock is behind",
      () => [toJob(OUR_USER, { created: "2026-01-02T11:30:00+0000" })],
      "us",
    ],
    ["a job without a date", () => [toJob(OUR_USER, { created: undefined })], "others"],
    ["a job that cannot be read", () => [toJob(OUR_USER, { jobstatus: "odd" })], "others"],
    [
      "another user's job, and then ours",
      () => [toJob(OTHER_USER, { created: "2026-01-02T11:59:00+0000" }), toJob(OUR_USER)],
      "us",
    ],
    [
      "our job, and then another user's",
      () => [toJob(OTHER_USER, { created: "2026-01-02T12:09:00+0000" }), toJob(OUR_USER)],
      "others",
    ],
    ["two jobs of one second", () => [toJob(OTHER_USER), toJob(OUR_USER)], "others"],
  ])("with %s", async (_title, toJobs, by) => {
    jobs = toJobs();
    expect(await readTaker()).toBe(by);
    const commands = ["GET listAsyncJobs", "GET listEvents", "GET listUsers"];
    expect(fake.commands.toSorted()).toEqual(commands);
  });

  test.each<[string, () => object[], "us" | "others" | undefined]>([
    ["an event of our user", () => [toEvent("landfall")], "us"],
    ["an event of another user", () => [toEvent("ops")], "others"],
    ["one of a request that runs", () => [toEvent("landfall", { state: "Started" })], undefined],
    ["one of a request that failed", () => [toEvent("landfall", { level: "ERROR" })], "others"],
    ["one of an old server", () => [toEvent("landfall", { resourceid: undefined })], undefined],
    ["one that cannot be read", () => [toEvent("landfall", { state: 7 })], "others"],
    [
      "ours, and then another user's",
      () => [toEvent("ops", { created: "2026-01-02T12:09:00+0000" }), toEvent("landfall")],
      "others",
    ],
    [
      "ours from long before",
      () => [toEvent("landfall", { created: "2026-01-02T10:59:00+0000" })],
      undefined,
    ],
  ])("with %s", async (_title, toEvents, by) => {
    events = toEvents();
    expect(await readTaker()).toBe(by);
    const asked = fake.seen.find(({ command }) => command === "listEvents")?.params;
    expect(asked).toMatchObject({ startdate: "2026-01-01", projectid: PROJECT });
  });

  test.each([
    ["listUsers", undefined],
    ["listAsyncJobs", "others"],
    ["listEvents", "us"],
  ] as const)("goes by the rest if the role lacks %s", async (lacking, by) => {
    const { answer } = fake;
    fake.answer = (seen) =>
      seen.command === lacking ? refuse(lacking, 432, "not available") : answer(seen);
    jobs = [toJob(OUR_USER)];
    events = [toEvent("ops")];
    expect(await readTaker()).toBe(by);
  });

  test("says nothing if the server does not show whose keys these are", async () => {
    users = [{ id: OUR_USER }];
    jobs = [toJob(OUR_USER)];
    expect(await readTaker()).toBeUndefined();
  });

  test("a list that is not whole is no answer", async () => {
    const { answer } = fake;
    fake.answer = (seen) =>
      seen.command === "listAsyncJobs"
        ? reply(seen.command, { count: 2, asyncjobs: [toJob(OUR_USER)] })
        : answer(seen);
    expect(String(await readTaker().catch((error: unknown) => error))).toContain("not whole");
  });
});

const toIds = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

test("rules are found by their address and port, in the order of their IDs", () => {
  const cloud = createCloud();
  const [a, b] = ["192.0.2.1", "192.0.2.2"].map(
    (ip) => cloud.addAddress({ ip, networkId: "net-1" }).id,
  );
  const toRule = (id: string, addressId = "", publicPort = 80): void => {
    cloud.addRule({ id, name: id, addressId, networkId: "net-1", publicPort });
  };
  toRule("r-2", a);
  toRule("r-1", a, 443);
  toRule("r-3", b);
  const observation = cloud.observation();
  const found = [
    listRulesOn(observation, a ?? ""),
    listRulesOn(observation, a ?? "", 80),
    listRulesOn(observation, "x"),
  ];
  expect(found.map(toIds)).toEqual([["r-1", "r-2"], ["r-2"], []]);
  toRule("r-4", a);
  expect(toIds(listRulesOn(cloud.observation(), a ?? "", 80))).toEqual(["r-2", "r-4"]);
});

test("firewall rules for exactly one port are told from those for several", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const { id: elsewhere } = cloud.addAddress({ ip: "192.0.2.2", networkId: "net-1" });
  cloud.addFirewallRule({ id: "f-5", addressId, protocol: "udp" });
  cloud.addFirewallRule({ id: "f-4", addressId });
  cloud.addFirewallRule({ id: "f-3", addressId, endPort: 81 });
  const { startPort: _, endPort: __, ...icmp } = cloud.addFirewallRule({ addressId: elsewhere });
  cloud.firewallRules.set("f-2", { ...icmp, id: "f-2", addressId, protocol: "icmp" });
  const observation = cloud.observation();
  const { exact, ranges } = listFirewallRulesFor(observation, addressId, 80);
  expect([exact, ranges].map(toIds)).toEqual([
    ["f-4", "f-5"],
    ["f-2", "f-3"],
  ]);
  expect(toIds(listFirewallRulesOn(observation, addressId))).toEqual(["f-2", "f-3", "f-4", "f-5"]);
  expect(toIds(listFirewallRulesFor(observation, addressId, 81).exact)).toEqual([]);
});

/** A look at a Service that has a port for each node port, and the Service. */
function createLarge(): {
  readonly observation: Observation;
  readonly spec: ReturnType<typeof toSpec>;
} {
  const cloud = createCloud();
  const tags = toTags(CLUSTER, OWNER);
  const { id: addressId, ip } = cloud.addAddress({ ip: "192.0.2.9", networkId: "net-1", tags });
  const ports = Array.from({ length: 2_768 }, (_, at) => ({
    protocol: "TCP" as const,
    port: at + 1,
    nodePort: 30_000 + at,
  }));
  for (const { port, nodePort } of ports) {
    const name = `${LB_NAME}-tcp-${port}`;
    const place = { addressId, networkId: "net-1", publicPort: port, privatePort: nodePort };
    const { id } = cloud.addRule({ name, description: DESCRIPTION, ...place });
    cloud.members.get(id)?.add("vm-1").add("vm-2");
    cloud.addFirewallRule({ addressId, startPort: port, endPort: port });
  }
  return {
    observation: cloud.observation(),
    spec: toSpec({ ports, ingress: [{ ip, ipMode: "VIP" }] }),
  };
}

longTest("a Service with a port for each node port is planned in a moment", () => {
  const { observation, spec } = createLarge();
  const startedMs = performance.now();
  const counts = [plan(observation, spec), planRelease(observation, spec)].map(
    ({ steps }) => steps.length,
  );
  expect(counts).toEqual([0, 2 * 2_768 + 1]);
  // It takes about 0.1 s. With a search through all rules for each port it took 10 s.
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});
