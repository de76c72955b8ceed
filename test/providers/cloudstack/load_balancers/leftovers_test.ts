/**
 * Which policies, networks and addresses a look asks about, and what no Service owns any more.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import type {
  LiveServices,
  LoadBalancerHolder,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { listLeftovers } from "../../../../lib/providers/cloudstack/load_balancers/release.ts";
import type {
  Network,
  PublicAddress,
  StickinessPolicy,
  Observation,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { TAG_KEYS, toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { byId, SIGNER, toAddress, toNetwork, toPolicy, toRule } from "./objects.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { Limiter } from "../../../../lib/core/concurrency.ts";
import {
  listAsked,
  readNetworks,
  readPolicies,
} from "../../../../lib/providers/cloudstack/load_balancers/observe.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import {
  isLeftBehind,
  listInherited,
} from "../../../../lib/providers/cloudstack/load_balancers/current.ts";
import { type CloudModel, CLUSTER } from "./cloud/cloud_model.ts";
import { createCloud, LB_NAME, OWNER, toSpec, UID } from "./cloud/services.ts";
import { toLeftoverFindings } from "../../../../lib/providers/cloudstack/load_balancers/inspection.ts";
import { findOrphans } from "../../../../lib/providers/cloudstack/load_balancers/store.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { formatRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import { toClaim } from "./observer_rig.ts";

const GONE = "gone-uid";

function toTagMap(over: Partial<Record<keyof typeof TAG_KEYS, string>> = {}): Map<string, string> {
  const tags = { cluster: "us", serviceUid: GONE, service: "shop/web", ...over };
  return new Map([
    [TAG_KEYS.cluster, tags.cluster],
    [TAG_KEYS.serviceUid, tags.serviceUid],
    [TAG_KEYS.service, tags.service],
  ]);
}

function toView(
  tags: ReadonlyMap<string, string>,
): Pick<Observation, "addresses" | "rules" | "clusterIds"> {
  return {
    addresses: byId(toAddress("ip", { tags }), toAddress("other", { ip: "192.0.2.2" })),
    rules: byId(
      toRule("r1"),
      toRule("r2", { publicPort: 81 }),
      toRule("r3", { addressId: "other" }),
    ),
    clusterIds: ["us", "us-before"],
  };
}

function toLive(uid = "live-uid", ...addresses: readonly string[]): LiveServices {
  return { uids: new Set([uid]), addresses: new Set(addresses) };
}

describe("listLeftovers()", () => {
  test.each<[string, Map<string, string>, number]>([
    ["names an address of this cluster whose Service is gone", toTagMap(), 1],
    ["knows this cluster by each of its IDs", toTagMap({ cluster: "us-before" }), 1],
    ["leaves out that of a Service that exists", toTagMap({ serviceUid: "live-uid" }), 0],
    ["leaves out that of another cluster", toTagMap({ cluster: "them" }), 0],
    ["leaves out one without tags", new Map(), 0],
    ["leaves out one that is kept", new Map([...toTagMap(), [TAG_KEYS.keptFor, "shop"]]), 0],
    ["leaves out one of no cluster", new Map([[TAG_KEYS.serviceUid, GONE]]), 0],
    ["leaves out one of no Service", new Map([[TAG_KEYS.cluster, "us"]]), 0],
  ])("%s", (_what, tags, count) => {
    expect(listLeftovers(toView(tags), toLive("live-uid"))).toHaveLength(count);
  });

  test("says what an operator needs to find it, with the number of its rules", () => {
    const [leftover] = listLeftovers(toView(toTagMap()), toLive());
    const service = { service: "shop/web", serviceUid: GONE };
    expect(leftover).toEqual({ ip: "192.0.2.1", id: "ip", ...service, rules: 2 });
  });

  test("leaves out one that another Service uses: names or shows it, or has a rule on it", () => {
    const observation = toView(toTagMap());
    expect(listLeftovers(observation, toLive("live-uid", "192.0.2.1"))).toEqual([]);
    const rule = toRule("r9", { name: "aliveuid-tcp-443", publicPort: 443 });
    const shared = { ...observation, rules: new Map([...observation.rules, [rule.id, rule]]) };
    expect(listLeftovers(shared, toLive())).toEqual([]);
    expect(listLeftovers(shared, toLive("another-uid"))).toMatchObject([{ rules: 3 }]);
  });

  test("attributes no rule by its name alone", () => {
    const observation = {
      ...toView(new Map()),
      rules: byId(toRule("a", { name: "agoneuid-tcp-80" })),
    };
    expect(listLeftovers(observation, toLive())).toEqual([]);
  });
});

describe("toLeftoverFindings()", () => {
  test("names each with the command that releases it", () => {
    const [finding] = toLeftoverFindings(listLeftovers(toView(toTagMap()), toLive()));
    expect(finding).toEqual({
      level: "warning",
      code: "loadBalancerLeftover",
      message:
        'public IP 192.0.2.1 (ip) has no Service: its tags name this cluster and Service "shop/web" with UID ' +
        '"gone-uid", which does not exist; 2 load-balancer rules are on it',
      advice:
        "if nothing needs it, also no copy of this cluster, release it with its rules: " +
        "cmk disassociate ipaddress id=ip; or name it in spec.loadBalancerIP of a Service of that namespace, " +
        "which inherits it",
    });
  });

  test("counts those that are too many to name", () => {
    const leftover = { ip: "192.0.2.1", id: "ip", serviceUid: GONE, rules: 1 };
    const findings = toLeftoverFindings(Array.from({ length: 23 }, () => leftover));
    expect(findings).toHaveLength(21);
    expect(findings[0]?.message).toEndWith("1 load-balancer rule is on it");
    expect(findings.at(-1)?.message).toStartWith("3 more public IPs");
  });
});

const signal = new AbortController().signal;
const POLICY = toPolicy("policy");

const METHOD = "service.beta.kubernetes.io/cloudstack-load-balancer-stickiness-method-name";

/** Reads from a server where each rule has a policy, unless it refuses. The Services of some rules ask for one. */
async function readAskedPolicies(
  rules: ReadonlyMap<string, boolean>,
  errors: Record<string, Error | "unreadable"> = {},
  known: ReadonlyMap<string, readonly StickinessPolicy[]> = new Map(),
) {
  const asked: string[] = [];
  const api = {
    listPolicies: (ruleId: string): Promise<StickinessPolicy[] | undefined> => {
      asked.push(ruleId);
      const error = errors[ruleId];
      if (error === "unreadable") return Promise.resolve(undefined);
      return error === undefined ? Promise.resolve([POLICY]) : Promise.reject(error);
    },
  };
  const claims = new Map(
    [...rules].map(([id, isWanted]) => [
      `a${id}`,
      toClaim(id, isWanted ? { annotations: { [METHOD]: "SourceBased" } } : {}),
    ]),
  );
  const look = { api, claims, known: { policies: known }, limiter: new Limiter(4) };
  const some = [...rules.keys()].map((id) => ({ id, name: `a${id}-tcp-80` }));
  return { found: Object.fromEntries(await readPolicies(look, some, signal)), asked };
}

function toRefusal(code: number): ApiError {
  return new ApiError({ code, text: "no" }, { command: "list", secrets: [] });
}

const RULES = new Map([
  ["wants", true],
  ["plain", false],
]);

describe("readPolicies()", () => {
  test("forgets rules that are not there any more", async () => {
    const { found } = await readAskedPolicies(new Map(), {}, new Map([["plain", [POLICY]]]));
    expect(found).toEqual({});
  });

  test.each([
    ["refuses to answer", toRefusal(531)],
    ["gives an answer that cannot be read", "unreadable" as const],
  ])("does not know the policies of a rule about which CloudStack %s", async (_what, error) => {
    const { found } = await readAskedPolicies(RULES, { wants: error });
    expect(found).toEqual({ plain: [POLICY] });
  });

  test.each([401, 432])("knows none, and stops asking, after a %i for all", async (code) => {
    const rules = new Map(Array.from({ length: 50 }, (_, at) => [`rule${at}`, false]));
    const errors = Object.fromEntries([...rules.keys()].map((id) => [id, toRefusal(code)]));
    const { found, asked } = await readAskedPolicies(rules, errors);
    expect(found).toEqual({});
    expect(asked.length).toBeLessThan(10);
  });

  test.each([toRefusal(429), toRefusal(503), new CloudError("unreachable", "no answer")])(
    "rejects with %s",
    async (error) => {
      await expect(readAskedPolicies(RULES, { plain: error })).rejects.toBe(error);
    },
  );
});

const OTHER = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
const OTHERS = toTags(CLUSTER, OTHER);
const STAYS: LoadBalancerHolder = { claim: toSpec({ owner: OTHER }), isLeaving: false };
const SELF: LoadBalancerHolder = { claim: toSpec({ owner: OWNER }), isLeaving: false };

const LEFT: readonly [
  string,
  ReadonlyMap<string, string>,
  LoadBalancerHolder[] | undefined,
  boolean,
][] = [
  ["of a Service that is gone", OTHERS, [SELF], true],
  ["of a Service that is losing its load balancer", OTHERS, [{ ...STAYS, isLeaving: true }], true],
  ["of a Service that keeps its load balancer", OTHERS, [STAYS], false],
  ["while nobody says which Services there are", OTHERS, undefined, false],
  ["of the Service itself", toTags(CLUSTER, OWNER), [], false],
  ["of another cluster", toTags("another", OTHER), [], false],
  ["without the UID", new Map([["landfall.dev/cluster", CLUSTER]]), [], false],
  ["without the cluster", new Map([["landfall.dev/service-uid", OTHER.uid]]), [], false],
  ["without tags", new Map(), [], false],
];
test.each(LEFT)("an address %s", (_what, tags, holders, isLeft) => {
  const cloud = createCloud();
  cloud.holders = holders;
  expect(isLeftBehind(cloud.observation(), tags, UID)).toBe(isLeft);
});

test("listInherited() has the addresses that the Service uses, and no other", () => {
  const cloud = createCloud();
  cloud.holders = [];
  const [named, ruled, recorded] = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map((ip) =>
    cloud.addAddress({ ip, networkId: "net-1", tags: OTHERS }),
  );
  const rule = toRule("rule", { name: `${LB_NAME}-tcp-80`, addressId: ruled?.id ?? "" });
  const claim = toSpec({ address: "192.0.2.1" });
  const record = { shared: "192.0.2.3" };
  expect([...listInherited({ cloud: cloud.observation(), claim, record, rules: [rule] })]).toEqual(
    [named, ruled, recorded].map((one) => one?.id ?? ""),
  );
  cloud.holders.push(STAYS);
  expect([...listInherited({ cloud: cloud.observation(), claim, record, rules: [rule] })]).toEqual(
    [],
  );
});

/** An address with a rule of the Service for port 80, its firewall rule, and one beside it. */
function setUp(ruleName = `${LB_NAME}-tcp-80`): CloudModel {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  cloud.addRule({ id: "r-80", name: ruleName, addressId, networkId: "net-1" });
  cloud.addFirewallRule({ id: "f-80", addressId });
  cloud.addFirewallRule({ id: "f-80-udp", addressId, protocol: "udp" });
  cloud.addFirewallRule({ id: "f-range", addressId, endPort: 81 });
  cloud.addFirewallRule({ id: "f-22", addressId, startPort: 22, endPort: 22 });
  return cloud;
}

test("a firewall rule whose load-balancer rule is gone since the last look is an orphan", () => {
  const cloud = setUp();
  const before = cloud.observation();
  expect([...findOrphans(before, before)]).toEqual([]);
  cloud.removeRule("r-80");
  const after = cloud.observation();
  expect([...findOrphans(before, after)]).toEqual([["f-80", LB_NAME]]);
  expect([...findOrphans(undefined, after)]).toEqual([]);
});

test("an orphan stays one in later looks, until it goes or has a load-balancer rule again", () => {
  const cloud = setUp();
  const [rule] = cloud.rules.values();
  if (rule === undefined) throw new Error("no rule");
  const orphans = new Map([["f-80", LB_NAME]]);
  cloud.removeRule("r-80");
  const before = { ...cloud.observation(), orphans };
  expect(findOrphans(before, cloud.observation())).toEqual(orphans);
  cloud.addRule(rule);
  expect([...findOrphans(before, cloud.observation())]).toEqual([]);
  cloud.removeRule("r-80");
  cloud.firewallRules.delete("f-80");
  expect([...findOrphans(before, cloud.observation())]).toEqual([]);
});

test("a firewall rule beside a rule of others, or that was not there, is no orphan", () => {
  const cloud = setUp("theirs");
  const before = cloud.observation();
  cloud.removeRule("r-80");
  expect([...findOrphans(before, cloud.observation())]).toEqual([]);
  const other = setUp();
  other.firewallRules.delete("f-80");
  const earlier = other.observation();
  other.removeRule("r-80");
  other.addFirewallRule({ id: "f-80", addressId: [...other.addresses.keys()][0] ?? "" });
  expect([...findOrphans(earlier, other.observation())]).toEqual([]);
});

const LISTED = [
  toNetwork("plain"),
  toNetwork("tier", { vpcId: "vpc", aclListId: "acl" }),
  toNetwork("tier-2", { vpcId: "vpc", aclListId: "acl" }),
  toNetwork("named", { vpcId: "vpc", aclListId: "acl-2", aclListName: "default_deny" }),
];

let asked: string[];
let listed: readonly Network[];
let clock: ManualClock;
let known: Parameters<typeof readNetworks>[0]["known"];

async function readWanted(...wanted: string[]): Promise<ReadonlyMap<string, Network>> {
  const api = {
    listAll: () => {
      asked.push("networks");
      return Promise.resolve({ objects: [...listed] as never[], unreadable: [] });
    },
    readAclListName: (listId: string) => {
      asked.push(listId);
      return Promise.resolve(`name of ${listId}`);
    },
  };
  const look = { api, known, projectId: undefined, takenAtMs: clock.monotonic() };
  const found = await readNetworks(look, new Set(wanted), signal);
  known = found;
  return found.networks;
}

describe("readNetworks()", () => {
  beforeEach(() => {
    asked = [];
    listed = LISTED;
    clock = new ManualClock();
    known = {};
  });

  test("lists all of them once, whoever wants which", async () => {
    expect([...(await readWanted("plain")).keys()]).toEqual(LISTED.map(({ id }) => id));
    await readWanted();
    await readWanted("plain");
    expect(asked).toEqual(["networks"]);
  });

  test("lists them each time for a tier, and asks once for the name of its list", async () => {
    const found = await readWanted("tier", "tier-2", "named");
    expect(found.get("tier")?.aclListName).toBe("name of acl");
    expect(found.get("tier-2")?.aclListName).toBe("name of acl");
    expect((await readWanted("tier")).get("tier")?.aclListName).toBe("name of acl");
    expect(asked).toEqual(["networks", "acl", "networks"]);
  });

  test("asks for the name of a list as soon as its network is wanted", async () => {
    expect((await readWanted("plain")).get("tier")?.aclListName).toBeUndefined();
    expect((await readWanted("plain", "tier")).get("tier")?.aclListName).toBe("name of acl");
  });

  test("looks again for a network that it was not shown, until it is", async () => {
    await readWanted("plain", "new");
    await readWanted("plain", "new");
    expect(asked).toEqual(["networks", "networks"]);
    listed = [...LISTED, toNetwork("new")];
    expect((await readWanted("new")).has("new")).toBe(true);
    await readWanted("plain", "new");
    expect(asked).toHaveLength(3);
  });

  test("lists them again after an hour, and when it must forget them", async () => {
    await readWanted("plain");
    await clock.advance(3_599_999);
    await readWanted("plain");
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await readWanted("plain");
    expect(asked).toHaveLength(2);
    known = { ...known, networksAtMs: -Infinity };
    await readWanted("plain");
    expect(asked).toHaveLength(3);
  });
});

const [ID = "", NET = ""] = ["a", "b"].map((end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`);
const AT_MS = Date.UTC(2026, 0, 2);

/** A Service whose record names an address. */
function toRecorded(uid: string, named: { id?: string; ip?: string }, atMs: number = AT_MS) {
  const address = { ...named, place: { networkId: NET }, atMs, wasFree: true };
  const record = formatRecord({ address }, "uid", SIGNER);
  return toClaim(uid, record === undefined ? {} : { record });
}

const FREE = toAddress(ID);

describe("listAsked()", () => {
  test.each<[string, PublicAddress, { id?: string; ip?: string }, boolean]>([
    ["by its ID", FREE, { id: ID, ip: "192.0.2.1" }, true],
    ["by its IP alone", FREE, { ip: "192.0.2.1" }, true],
    ["by another ID", FREE, { id: NET, ip: "192.0.2.1" }, false],
    ["that has a tag", toAddress(ID, { tags: new Map([["any", "tag"]]) }), { id: ID }, false],
  ])("looks at an address that a record names %s", (_what, address, named, isAsked) => {
    const asked = listAsked([toRecorded("uid", named)], byId(address), SIGNER);
    expect([...asked]).toEqual(isAsked ? [[ID, AT_MS]] : []);
  });

  test("looks at none for Services without a record, or with that of another one", () => {
    const claims = [toClaim("uid"), toRecorded("other", { id: ID })];
    expect(listAsked(claims, byId(FREE), SIGNER).size).toBe(0);
    expect(listAsked([toClaim("uid", { record: "{" })], byId(FREE), SIGNER).size).toBe(0);
  });

  test("takes the earliest time if two records name the same address", () => {
    const claims = [AT_MS, AT_MS - 1_000, AT_MS + 1_000].map((ms) =>
      toRecorded("uid", { id: ID }, ms),
    );
    expect([...listAsked(claims, byId(FREE), SIGNER)]).toEqual([[ID, AT_MS - 1_000]]);
  });
});
