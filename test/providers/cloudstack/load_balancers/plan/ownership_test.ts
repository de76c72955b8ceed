import { expect, test } from "bun:test";
import type { LoadBalancerClaim } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  checkPending,
  checkUnsigned,
  findAsked,
  findDoubtful,
  findLost,
  hasRulesOf1x,
  isOwnOrProven,
  isProvenByRecord,
  listUsers,
  listUses,
  mayTag,
  planNaming,
  toDoubt,
  toTagging,
  toTurn,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/ownership.ts";
import {
  type Scene,
  toScene,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { KeptRecord } from "../../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { PublicAddress } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER, type CloudModel } from "../cloud/cloud_model.ts";
import { annotate, createCloud, DESCRIPTION, LB_NAME, OWNER, toSpec } from "../cloud/services.ts";

type Asked = NonNullable<KeptRecord["address"]>;

const IP = "192.0.2.1";
const ASKED: Asked = { ip: IP, place: { networkId: "net-1" }, atMs: 0, wasFree: true };

function withRecord(cloud: CloudModel, address: Asked = ASKED): Scene {
  return { ...toScene(cloud.view(), toSpec()), record: { address } };
}

function setUp(fields: Partial<PublicAddress> = {}): { cloud: CloudModel; address: PublicAddress } {
  const cloud = createCloud();
  return { cloud, address: cloud.addAddress({ ip: IP, networkId: "net-1", ...fields }) };
}

const PROOFS: readonly [string, Partial<PublicAddress>, Partial<Asked>, boolean][] = [
  ["as it was asked for", {}, {}, true],
  ["by its ID", {}, { ip: "192.0.2.9" }, false],
  ["in another network", { networkId: "net-2" }, {}, false],
  ["that was not free", {}, { wasFree: false }, false],
  ["that is still being taken", { state: "Allocating" }, {}, false],
  ["with tags of somebody", { tags: new Map([["team", "shop"]]) }, {}, false],
  ["with tags of another Service", { tags: toTags(CLUSTER, { ...OWNER, uid: "x" }) }, {}, false],
  ["with rules that the look does not show", { hasRules: true }, {}, false],
  ["that something uses", { usedBy: "1 port forwarding" }, {}, false],
  ["with static NAT", { isStaticNat: true }, {}, false],
  ["that is the source NAT", { isSourceNat: true }, {}, false],
];
for (const [what, fields, asked, isProven] of PROOFS) {
  test(`the record ${isProven ? "proves" : "does not prove"} an address ${what}`, () => {
    const { cloud, address } = setUp(fields);
    const scene = withRecord(cloud, { ...ASKED, ...asked });
    expect(isProvenByRecord(scene, address)).toBe(isProven);
    expect([mayTag(scene, address), isOwnOrProven(scene, address)]).toEqual([isProven, isProven]);
    const isNamed = asked.ip === undefined;
    const isPending = fields.state === "Allocating";
    expect(findDoubtful(scene)).toHaveLength(isNamed && !isProven && !isPending ? 1 : 0);
    expect(checkPending(scene)).toHaveLength(isPending ? 1 : 0);
  });
}

test("the record does not prove an address that has rules", () => {
  const { cloud, address } = setUp();
  cloud.addRule({ name: "theirs", addressId: address.id, networkId: "net-1" });
  expect(isProvenByRecord(withRecord(cloud), address)).toBe(false);
  const other = setUp();
  other.cloud.addFirewallRule({ addressId: other.address.id });
  expect(isProvenByRecord(withRecord(other.cloud), other.address)).toBe(false);
});

test("a record of the day before proves nothing, unless CloudStack says who took the address", () => {
  for (const [ageMs, taker, isProven] of [
    [86_400_000, undefined, true],
    [86_400_001, undefined, false],
    [86_400_001, "us", true],
  ] as const) {
    const { cloud, address } = setUp();
    cloud.nowMs = ageMs;
    if (taker !== undefined) cloud.takers = new Map([[address.id, taker]]);
    const scene = withRecord(cloud);
    expect(isProvenByRecord(scene, address)).toBe(isProven);
    expect(findDoubtful(scene)).toHaveLength(isProven ? 0 : 1);
  }
});

test("who took an address decides, where CloudStack says it", () => {
  for (const [taker, wasFree, isProven] of [
    ["us", true, true],
    ["us", false, true],
    ["others", true, false],
  ] as const) {
    const { cloud, address } = setUp();
    cloud.takers = new Map([[address.id, taker]]);
    expect(isProvenByRecord(withRecord(cloud, { ...ASKED, wasFree }), address)).toBe(isProven);
  }
});

test("the record proves an address of a VPC by its VPC", () => {
  const { networkId: _, ...place } = { networkId: "", vpcId: "vpc-1" };
  for (const [vpcId, isProven] of [
    ["vpc-1", true],
    ["vpc-2", false],
  ] as const) {
    const cloud = createCloud("tier");
    const address = cloud.addAddress({ ip: IP, vpcId });
    expect(isProvenByRecord(withRecord(cloud, { ...ASKED, place }), address)).toBe(isProven);
  }
});

test("findAsked() goes by ID and IP, as far as the record has them", () => {
  const { cloud, address } = setUp();
  expect(findAsked(withRecord(cloud, { ...ASKED, id: address.id }), address)).toBeDefined();
  expect(findAsked(withRecord(cloud, { ...ASKED, id: "other" }), address)).toBeUndefined();
  const { ip: _, ...blind } = ASKED;
  expect(findAsked(withRecord(cloud, blind), address)).toBeUndefined();
  expect(findAsked(toScene(cloud.view(), toSpec()), address)).toBeUndefined();
});

const LEFT: readonly [string, Partial<LoadBalancerClaim>, string | undefined, boolean][] = [
  ["that the Service does not name", {}, undefined, true],
  ["with an empty description", { address: "" }, "", true],
  ["that the Service names, without the annotation", { address: IP }, "", false],
  [
    "that the Service names, with the annotation",
    { address: IP, annotations: annotate({ "ip-associated-by-controller": "true" }) },
    "",
    true,
  ],
  [
    "when the Service names another one now",
    { address: "192.0.2.9", annotations: annotate({ "ip-associated-by-controller": "true" }) },
    "",
    false,
  ],
  ["whose rule is of Landfall", {}, DESCRIPTION, false],
  ["whose rule has a description of somebody", {}, "mine", false],
];
for (const [what, claim, description, isOurs] of LEFT) {
  test(`an address with a rule of the Service ${what} is ${isOurs ? "" : "not "}left by version 1.x`, () => {
    const { cloud, address } = setUp();
    const name = `${LB_NAME}-tcp-80`;
    const fields = { name, addressId: address.id, networkId: "net-1" };
    cloud.addRule({ ...fields, ...(description !== undefined && { description }) });
    const scene = toScene(cloud.view(), toSpec(claim));
    expect(mayTag(scene, address)).toBe(isOurs);
    expect(hasRulesOf1x(scene, address)).toBe((description ?? "") === "");
  });
}

test("the annotation of version 1.x alone proves nothing", () => {
  const { cloud, address } = setUp();
  const annotations = annotate({ "ip-associated-by-controller": "true" });
  expect(mayTag(toScene(cloud.view(), toSpec({ address: IP, annotations })), address)).toBe(false);
});

test("an address that something else uses was not left by version 1.x", () => {
  const { cloud, address } = setUp();
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" });
  cloud.addRule({ name: "theirs", addressId: address.id, networkId: "net-1", publicPort: 22 });
  expect(mayTag(toScene(cloud.view(), toSpec()), address)).toBe(false);
});

test("listUses() names everything that is not of the Service", () => {
  const { cloud, address } = setUp({
    isSourceNat: true,
    isStaticNat: true,
    usedBy: "2 port forwardings",
  });
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" });
  cloud.addFirewallRule({ addressId: address.id });
  expect(
    listUses(toScene(cloud.view(), toSpec()), {
      ...address,
      isSourceNat: false,
      isStaticNat: false,
    }),
  ).toEqual(["2 port forwardings"]);
  cloud.addRule({ name: "theirs", addressId: address.id, networkId: "net-1", publicPort: 22 });
  cloud.addFirewallRule({ addressId: address.id, startPort: 22, endPort: 22 });
  expect(listUses(toScene(cloud.view(), toSpec()), address)).toEqual([
    "load-balancer rule theirs (rule-004)",
    "firewall rule fw-005",
    "source NAT of its network",
    "static NAT",
    "2 port forwardings",
  ]);
});

const OTHER = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
const OTHER_RULE = "a9999999989ab4cde8f0123456789abc-tcp-443";

/** An address of another Service, with a rule of each. */
function share(): { cloud: CloudModel; address: PublicAddress } {
  const { cloud, address } = setUp({ tags: toTags(CLUSTER, OTHER) });
  const place = { addressId: address.id, networkId: "net-1" };
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, ...place });
  cloud.addFirewallRule({ addressId: address.id });
  cloud.addRule({ name: OTHER_RULE, ...place, publicPort: 443 });
  cloud.addFirewallRule({ addressId: address.id, startPort: 443, endPort: 443 });
  cloud.holders = [{ owner: OTHER, isLeaving: false }];
  return { cloud, address };
}

test("an address of a Service that is gone is of the one that uses it", () => {
  const { cloud, address } = share();
  expect(isOwnOrProven(toScene(cloud.view(), toSpec()), address)).toBe(false);
  cloud.holders = [];
  expect(isOwnOrProven(toScene(cloud.view(), toSpec()), address)).toBe(true);
  for (const id of cloud.rules.keys()) cloud.removeRule(id);
  expect(isOwnOrProven(toScene(cloud.view(), toSpec()), address)).toBe(false);
  expect(isOwnOrProven(toScene(cloud.view(), toSpec({ address: IP })), address)).toBe(true);
});

test("listUsers() names the Services on an address, if nothing else uses it", () => {
  const { cloud, address } = share();
  expect(listUsers(toScene(cloud.view(), toSpec()), address)).toEqual([OTHER]);
  cloud.holders = [];
  expect(listUsers(toScene(cloud.view(), toSpec()), address)).toBeUndefined();
  cloud.holders = [{ owner: OTHER, isLeaving: false }];
  cloud.addFirewallRule({ addressId: address.id, startPort: 22, endPort: 22 });
  expect(listUsers(toScene(cloud.view(), toSpec()), address)).toBeUndefined();
});

test("the record names an address of another Service that the Service uses and does not name", () => {
  const { cloud, address } = share();
  const list = (claim: Partial<LoadBalancerClaim>, shared?: string): readonly unknown[] => {
    const scene = toScene(cloud.view(), toSpec(claim));
    const record = shared === undefined ? {} : { record: { shared } };
    return planNaming({ ...scene, ...record }, address).map(({ change }) => change);
  };
  expect(list({})).toEqual([{ kind: "keepShared", ip: IP }]);
  expect(list({ address: "192.0.2.9" })).toEqual([{ kind: "keepShared", ip: IP }]);
  expect(list({}, IP)).toEqual([]);
  expect(list({ address: IP })).toEqual([]);
  for (const id of cloud.rules.keys()) cloud.removeRule(id);
  expect(list({})).toEqual([]);
});

test("an address that may have been taken without a choice is told, and stays", () => {
  const { cloud, address } = setUp();
  cloud.addAddress({ ip: "192.0.2.2", networkId: "net-1", tags: new Map([["team", "shop"]]) });
  const { ip: _, ...blind } = ASKED;
  const scene = withRecord(cloud, { ...blind, wasFree: false });
  expect(findLost(scene).map(({ ip }) => ip)).toEqual([address.ip]);
  expect(findLost(withRecord(cloud))).toEqual([]);
  expect(toDoubt(address)).toMatchObject({ reason: "AddressNotOurs", isWaiting: false });
});

test("an address that a record of other keys may mean is told", () => {
  const { cloud, address } = setUp();
  cloud.addAddress({ ip: "192.0.2.2", networkId: "net-2" });
  const { id: usedId } = cloud.addAddress({ ip: "192.0.2.3", networkId: "net-1" });
  cloud.addFirewallRule({ addressId: usedId });
  const coming = cloud.addAddress({ ip: "192.0.2.4", state: "Allocating" });
  const { ip: _, ...blind } = ASKED;
  const scene = { ...toScene(cloud.view(), toSpec()), unsigned: { ...blind, wasFree: false } };
  expect(checkUnsigned(scene).map(({ message }) => message)).toEqual(
    [address.ip, coming.ip].map(
      (ip) =>
        `public IP ${ip} stays: the record on the Service may mean it, but is not signed with the keys in use`,
    ),
  );
});

test("tags name this cluster by its first ID", () => {
  const { cloud, address } = setUp();
  const { change, turn } = toTagging(toScene(cloud.view(), toSpec()), address);
  expect([change, turn]).toEqual([
    { kind: "tagAddress", addressId: address.id, tags: toTags(CLUSTER, OWNER) },
    "net-1",
  ]);
  expect(toTurn(cloud.addAddress({ ip: "192.0.2.3", vpcId: "vpc-1" }))).toBe("vpc-1");
});
