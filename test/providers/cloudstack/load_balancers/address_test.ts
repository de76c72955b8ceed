/**
 * Steps with addresses and the rules on them: checked first, taken, tagged and released.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  type Acting,
  RecordWriter,
} from "../../../../lib/providers/cloudstack/load_balancers/acting.ts";
import {
  isFree,
  isIn,
  listFree,
  readAddress,
} from "../../../../lib/providers/cloudstack/load_balancers/address.ts";
import type {
  PublicAddress,
  Rule,
  Observation,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import type { FindHolder } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { CLUSTER_ID, OWNER, useApply } from "./apply_rig.ts";
import { toSpec } from "./cloud/services.ts";
import { SIGNER } from "./objects.ts";
import { formatRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import { toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import type { ChangeOf } from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { longTest } from "../../../support/long_tests.ts";

const rig = useApply();
const { signal } = new AbortController();

function toActing(): Acting {
  const { session, store, clock, projectId, random } = rig;
  const record = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
  return { session, store, clock, projectId, random, record, owner: OWNER, signal };
}

function listIps(addresses: readonly PublicAddress[]): string[] {
  return addresses.map(({ ip }) => ip);
}

const ADDRESS: PublicAddress = {
  id: "a",
  ip: "192.0.2.1",
  state: "Free",
  isSourceNat: false,
  isStaticNat: false,
  tags: new Map(),
};

describe("listFree()", () => {
  test("lists free addresses of the zone of the network, in one question", async () => {
    await rig.look();
    rig.simulator.requests.reset();
    const place = { networkId: rig.networkId };
    expect(listIps(await listFree({ place }, toActing()))).toEqual([
      "192.0.2.12",
      "192.0.2.13",
      "192.0.2.14",
      "192.0.2.15",
      "192.0.2.16",
      "192.0.2.17",
    ]);
    expect(rig.simulator.requests.total).toBe(1);
    const [asked] = rig.simulator.requests.entries;
    expect(asked?.parameters.get("zoneid")).toBe(rig.story.zoneIds.paris);
    expect(asked?.parameters.get("pagesize")).toBe("20");
  });

  test.each([
    ["192.0.2.15", ["192.0.2.15"]],
    ["192.0.2.11", []],
    ["203.0.113.1", []],
  ])("of %s only lists %p", async (ip, listed) => {
    await rig.look();
    const place = { networkId: rig.networkId };
    expect(listIps(await listFree({ place, ip }, toActing()))).toEqual(listed);
  });

  test("a server that ignores the questions for one address does not make another one the choice", async () => {
    await rig.look();
    const body = {
      listpublicipaddressesresponse: {
        count: 3,
        publicipaddress: [
          { id: OWNER.uid, ipaddress: "192.0.2.50", state: "Free" },
          { id: "no ID", ipaddress: "192.0.2.15", state: "Free" },
          { id: OWNER.uid, ipaddress: "192.0.2.15", state: "Allocated" },
        ],
      },
    };
    rig.simulator.faults.set({ kind: "json", body }, { command: "listPublicIpAddresses" });
    const place = { networkId: rig.networkId };
    expect(await listFree({ place, ip: "192.0.2.15" }, toActing())).toEqual([]);
    expect(await readAddress(rig.networkId, toActing())).toBeUndefined();
  });

  test("a role that may not ask shows none; a server that does not answer is no answer", async () => {
    await rig.look();
    const place = { networkId: rig.networkId };
    rig.simulator.faults.set({ kind: "error", code: 432, text: "no" }, { times: 1 });
    expect(await listFree({ place }, toActing())).toEqual([]);
    rig.simulator.faults.set({ kind: "error", code: 530, text: "no" });
    const failed = await listFree({ place }, toActing()).catch((error: unknown) => error);
    expect(failed).toMatchObject({ kind: "unreachable" });
  });
});

describe("readAddress()", () => {
  test("reads an address of the account, or a free one", async () => {
    await rig.look();
    for (const ip of ["192.0.2.11", "192.0.2.12"]) {
      expect((await readAddress(rig.ipId(ip), toActing()))?.ip).toBe(ip);
    }
  });
});

test("an address is free only if it belongs to no place", () => {
  expect(isFree(ADDRESS)).toBe(true);
  expect(isFree({ ...ADDRESS, state: "Allocated" })).toBe(false);
  expect(isFree({ ...ADDRESS, networkId: "n" })).toBe(false);
  expect(isFree({ ...ADDRESS, vpcId: "v" })).toBe(false);
});

test("an address of a VPC is in it whatever tier it serves", () => {
  const address = { ...ADDRESS, networkId: "tier", vpcId: "vpc" };
  expect(isIn(address, { vpcId: "vpc" })).toBe(true);
  expect(isIn(address, { vpcId: "other" })).toBe(false);
  expect(isIn(address, { networkId: "tier" })).toBe(true);
  expect(isIn(ADDRESS, { networkId: "tier" })).toBe(false);
});

async function takeIp(): Promise<string> {
  const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
  await rig.look();
  return done.id;
}

describe("tagAddress", () => {
  test("a tag that is there already asks for a new look instead of failing", async () => {
    const addressId = await takeIp();
    const fields = { resourceids: addressId, resourcetype: "PublicIpAddress" };
    await rig.change("createTags", { ...fields, "tags[0].key": "a", "tags[0].value": "b" });
    const tags = new Map([["a", "b"]]);
    expect(await rig.apply({ kind: "tagAddress", addressId, tags })).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    expect(String(await rig.apply({ kind: "tagAddress", addressId, tags }))).toContain("530");
  });

  test("adds to the tags that the address has", async () => {
    const addressId = await takeIp();
    await rig.apply({ kind: "tagAddress", addressId, tags: new Map([["a", "b"]]) });
    await rig.apply({ kind: "tagAddress", addressId, tags: new Map([["c", "d"]]) });
    expect(rig.tagsOf(addressId)).toEqual({ a: "b", c: "d" });
    const known = rig.store.observation?.addresses.get(addressId)?.tags;
    expect(known).toEqual((await rig.look()).addresses.get(addressId)?.tags);
  });

  test("forgets that the address was asked for, and nothing else", async () => {
    const addressId = await takeIp();
    const place = { networkId: rig.networkId };
    const tags = new Map([["a", "b"]]);
    for (const [id, isKept] of [
      [rig.networkId, true],
      [addressId, false],
    ] as const) {
      const address = { id, place, atMs: 0, wasFree: true };
      rig.record.text = formatRecord({ address }, OWNER.uid, SIGNER);
      await rig.apply({ kind: "tagAddress", addressId, tags });
      expect(rig.record.text !== undefined).toBe(isKept);
      await rig.change("deleteTags", { resourceids: addressId, resourcetype: "PublicIpAddress" });
    }
  });
});

/** An address that is ours, in a look. */
async function takeOurs(): Promise<string> {
  await rig.look();
  await rig.apply({ kind: "takeAddress", place: { networkId: rig.networkId } });
  rig.simulator.requests.reset();
  return rig.ipId("192.0.2.12");
}

function isTaken(): boolean {
  return rig.ip("192.0.2.12")?.state !== "Free";
}

const OTHERS: readonly [string, (id: string) => Promise<unknown> | void, boolean][] = [
  [
    "a load-balancer rule",
    (publicipid) =>
      rig.change("createLoadBalancerRule", {
        publicipid,
        name: "mine",
        algorithm: "source",
        privateport: "1",
        publicport: "2",
        openfirewall: "false",
      }),
    false,
  ],
  [
    "a firewall rule",
    (ipaddressid) =>
      rig.change("createFirewallRule", {
        ipaddressid,
        protocol: "tcp",
        startport: "1",
        endport: "2",
      }),
    false,
  ],
  [
    "a static NAT",
    (id) =>
      void Object.assign(rig.ip("192.0.2.12") ?? {}, { staticNatVmId: rig.idOf("worker-1"), id }),
    true,
  ],
  [
    "somebody's tags instead of ours",
    (id) => {
      const { tags } = rig.simulator.state;
      for (const { key } of tags.of(id)) tags.remove(id, key);
    },
    false,
  ],
  [
    "the tags of another Service",
    (id) => {
      const { tags } = rig.simulator.state;
      const others = toTags(CLUSTER_ID, { ...OWNER, uid: CLUSTER_ID });
      const [{ accountId, resourceType } = { accountId: "", resourceType: "" }] = tags.of(id);
      for (const { key } of tags.of(id)) tags.remove(id, key);
      for (const [key, value] of others) {
        tags.add({ key, value, accountId, resourceType, resourceId: id });
      }
    },
    false,
  ],
];

describe("releaseAddress", () => {
  test("releases an address that is ours, with one question before", async () => {
    const addressId = await takeOurs();
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(isTaken()).toBe(false);
    expect(rig.store.isValid).toBe(true);
    expect(rig.store.observation?.addresses.has(addressId)).toBe(false);
    expect([...rig.simulator.requests.byCommand]).toEqual([
      ["listPublicIpAddresses", 1],
      ["disassociateIpAddress", 1],
      ["queryAsyncJobResult", 1],
    ]);
  });

  test.each(OTHERS)(
    "leaves an address that got %s since the look",
    async (_title, add, isShown) => {
      const addressId = await takeOurs();
      await add(addressId);
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(true);
      expect(rig.simulator.requests.count("disassociateIpAddress")).toBe(0);
      // Either the store shows why, or the next look will.
      expect(rig.store.isValid).toBe(isShown);
    },
  );

  const SIBLINGS: readonly [string, (boolean | undefined)[], boolean][] = [
    ["is gone", [undefined, undefined], true],
    ["is losing its load balancer", [true, true], true],
    ["keeps its load balancer", [false], false],
    ["gets a load balancer again at the last moment", [true, false], false],
    ["is there again at the last moment", [undefined, false], false],
  ];
  test.each(SIBLINGS)(
    "an address of another Service, which %s",
    async (_what, states, isReleased) => {
      const addressId = await takeOurs();
      const uid = CLUSTER_ID;
      const { tags } = rig.simulator.state;
      const tag = tags.of(addressId).find(({ key }) => key === "landfall.dev/service-uid");
      tags.remove(addressId, "landfall.dev/service-uid");
      if (tag) tags.add({ ...tag, value: uid });
      const answers = [...states];
      const findHolder: FindHolder = (isIt) => {
        expect([isIt(uid), isIt(OWNER.uid)]).toEqual([true, false]);
        const isLeaving = answers.shift();
        const claim = toSpec({ owner: { ...OWNER, uid } });
        return isLeaving === undefined ? undefined : { claim, isLeaving };
      };
      rig.store.setServices({ findHolder });
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(!isReleased);
      expect(answers).toEqual([]);
      expect(rig.store.isValid).toBe(isReleased);
    },
  );

  test("forgets a record that names the address", async () => {
    const addressId = await takeOurs();
    await rig.apply({ kind: "keepShared", ip: "192.0.2.12" });
    expect(JSON.parse(rig.record.text ?? "{}")).toMatchObject({ shared: "192.0.2.12" });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(rig.record.text).toBeUndefined();
  });

  test.each([1, 2])(
    "leaves an address with %d port forwardings, and says so in the store",
    async (count) => {
      const addressId = await takeOurs();
      for (let port = 1; port <= count; port += 1) {
        await rig.change("createPortForwardingRule", {
          ipaddressid: addressId,
          protocol: "udp",
          privateport: "1",
          publicport: String(port),
          virtualmachineid: rig.idOf("worker-1"),
        });
      }
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(true);
      expect(rig.store.observation?.addresses.get(addressId)?.usedBy).toBe(
        count === 1 ? "a port forwarding" : "2 port forwardings",
      );
      expect(rig.store.isValid).toBe(true);
    },
  );

  test("releases nothing while the server does not say what is on the address", async () => {
    const addressId = await takeOurs();
    await rig.change("createFirewallRule", {
      ipaddressid: addressId,
      protocol: "tcp",
      startport: "1",
      endport: "2",
    });
    const lacking = { kind: "error", code: 432, text: "no" } as const;
    rig.simulator.faults.set(lacking, { command: "listPortForwardingRules" });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toMatchObject({
      kind: "denied",
    });
    expect(isTaken()).toBe(true);
  });

  test("an address that is gone asks for a new look", async () => {
    const addressId = await takeOurs();
    await rig.change("disassociateIpAddress", { id: addressId });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    expect(rig.simulator.requests.count("disassociateIpAddress")).toBe(1);
  });

  longTest.each(["reset", "resetAfter", "hang", "hangAfter"] as const)(
    "%s of each of its requests: the next process releases it, or finds it released",
    async (kind) => {
      for (const at of [1, 2, 3]) {
        await rig.look();
        await rig.apply({ kind: "takeAddress", place: { networkId: rig.networkId } });
        const addressId = rig.ipId("192.0.2.12");
        rig.simulator.faults.set({ kind }, { skip: at - 1, times: 1 });
        const before = rig.simulator.faults.taken;
        const dying = rig.apply({ kind: "releaseAddress", addressId });
        const isRunning = (): boolean => Bun.peek.status(dying) === "pending";
        while (rig.simulator.faults.taken === before && isRunning()) await Bun.sleep(1);
        rig.restart();
        await dying;
        rig.simulator.faults.clear();
        await rig.clock.advance(1_000);
        const { addresses } = await rig.look();
        if (addresses.has(addressId)) await rig.apply({ kind: "releaseAddress", addressId });
        expect([kind, at, isTaken()]).toEqual([kind, at, false]);
      }
    },
  );
});

function toRule(
  addressId: string,
  more: Partial<ChangeOf<"createRule">> = {},
): ChangeOf<"createRule"> {
  return {
    kind: "createRule",
    name: "a1-tcp-80",
    description: "Managed by Landfall for shop/web",
    addressId,
    networkId: rig.networkId,
    publicPort: 80,
    privatePort: 30_080,
    protocol: "tcp",
    algorithm: "roundrobin",
    ...more,
  };
}

/** The only rule of the observation. */
function onlyRule(): Rule {
  const [rule, ...more] = [...(rig.store.observation?.rules.values() ?? [])];
  if (rule === undefined || more.length > 0) throw new Error("There is not exactly one rule");
  return rule;
}

/** What the store shows, and what a look shows. */
async function compareWithLook(): Promise<readonly [unknown, unknown]> {
  const known = toComparable(rig.store.observation);
  return [known, toComparable(await rig.look())];
}

function toComparable(observation: Observation | undefined): unknown {
  const { addresses, rules, firewallRules, members } = observation ?? {};
  const bare = [...(addresses?.values() ?? [])].map((one) => ({ ...one, hasRules: undefined }));
  return { addresses: bare, rules, firewallRules, members };
}

describe("rules", () => {
  test("a rule is made as asked, without backends, and the store shows it", async () => {
    const ip = await takeIp();
    expect(await rig.apply(toRule(ip))).toBeUndefined();
    expect(onlyRule()).toMatchObject({ name: "a1-tcp-80", publicPort: 80, privatePort: 30_080 });
    expect(rig.store.isValid).toBe(true);
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
    expect(rig.simulator.state.firewallRules.size).toBe(0);
  });

  test("a rule takes the list of its clients", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip, { cidrs: ["192.0.2.0/24", "10.0.0.0/8"] }));
    expect(onlyRule().cidrs).toEqual(["10.0.0.0/8", "192.0.2.0/24"]);
    expect(rig.store.isValid).toBe(true);
    await rig.apply({ kind: "updateRule", ruleId: onlyRule().id, cidrs: ["10.1.0.0/16"] });
    expect(onlyRule().cidrs).toEqual(["10.1.0.0/16"]);
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
  });

  test.each([
    [(): ChangeOf<"createRule"> => toRule(rig.ipId("192.0.2.12"), { cidrs: [] })],
    [() => ({ kind: "updateRule", ruleId: "x", cidrs: [] }) as const],
    [
      () =>
        ({
          kind: "createFirewallRule",
          addressId: "x",
          protocol: "tcp",
          port: 80,
          cidrs: [],
        }) as const,
    ],
    [
      () =>
        ({
          kind: "createAclItem",
          listId: "x",
          networkId: "x",
          protocol: "tcp",
          port: 80,
          cidrs: [],
          reason: "",
        }) as const,
    ],
  ])(
    "an empty list of clients is never sent: CloudStack takes it for everyone (%#)",
    async (toChange) => {
      await rig.look();
      expect(String(await rig.apply(toChange()))).toContain("names at least one block");
      expect(rig.commands()).toEqual([]);
    },
  );

  test("a rule is renamed and gets another algorithm", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id } = onlyRule();
    await rig.apply({ kind: "updateRule", ruleId: id, name: "a1-tcp-81", algorithm: "source" });
    expect(onlyRule()).toMatchObject({ id, name: "a1-tcp-81", algorithm: "source" });
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
  });

  test("backends come and go, and the rule goes with them", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id: ruleId } = onlyRule();
    const vmIds = [rig.idOf("worker-1"), rig.idOf("worker-2")];
    await rig.apply({ kind: "addBackends", ruleId, vmIds });
    expect(rig.store.observation?.members.get(ruleId)).toEqual(new Set(vmIds));
    await rig.apply({ kind: "removeBackends", ruleId, vmIds: vmIds.slice(0, 1) });
    expect(rig.store.observation?.members.get(ruleId)).toEqual(new Set(vmIds.slice(1)));
    const [known, shown] = await compareWithLook();
    expect(known).toMatchObject({ members: (shown as { members: unknown }).members });
    await rig.apply({ kind: "delete", what: "rule", id: ruleId });
    const [without, shownWithout] = await compareWithLook();
    expect(without).toEqual(shownWithout);
    expect(rig.simulator.state.loadBalancerRules.size).toBe(0);
  });
});

describe("a step whose look is out of date", () => {
  test("what is to be deleted and is gone already is no failure", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id: ruleId } = onlyRule();
    await rig.change("deleteLoadBalancerRule", { id: ruleId });
    expect(await rig.apply({ kind: "delete", what: "rule", id: ruleId })).toBeUndefined();
    expect(rig.store.observation?.rules.size).toBe(0);
  });

  test("a port that is in use asks for a new look once, and then says so with CloudStack's words", async () => {
    const ip = await takeIp();
    await rig.change("createPortForwardingRule", {
      ipaddressid: ip,
      protocol: "tcp",
      privateport: "1",
      publicport: "80",
      virtualmachineid: rig.idOf("worker-1"),
    });
    expect(await rig.apply(toRule(ip))).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    await rig.look();
    expect(String(await rig.apply(toRule(ip)))).toContain("conflicts with rule");
    expect(await rig.apply(toRule(ip))).toBeUndefined();
  });
});

test.each([
  [8_081, "tcp", "keeps one port for itself, by default 8081"],
  [53, "udp", "takes no UDP"],
] as const)(
  "a rule for port %d by %s that the load balancer of the network refuses is one problem, said at once",
  async (publicPort, protocol, why) => {
    const network = rig.simulator.state.networks.get(rig.networkId);
    Object.assign(network ?? {}, { balancer: "HAProxy" });
    const addressId = await takeIp();
    const error = await rig.apply(toRule(addressId, { publicPort, protocol }));
    expect(error).toMatchObject({ status: 431, problem: { reason: "UnsupportedService" } });
    expect(String(error)).toContain(`port ${publicPort}: `);
    expect(String(error)).toContain(why);
    expect(rig.simulator.requests.count("createLoadBalancerRule")).toBe(1);
  },
);

test("another refusal of a rule is not taken for that one", async () => {
  const addressId = await takeIp();
  const refusal = {
    kind: "error",
    code: 530,
    text: "LB service provider cannot support this rule",
  } as const;
  rig.simulator.faults.set(refusal, { command: "createLoadBalancerRule" });
  expect(await rig.apply(toRule(addressId))).not.toHaveProperty("problem");
});
