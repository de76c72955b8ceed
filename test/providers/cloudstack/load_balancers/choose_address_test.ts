import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { chooseAddress } from "../../../../lib/providers/cloudstack/load_balancers/choose_address.ts";
import {
  type Current,
  toCurrent,
} from "../../../../lib/providers/cloudstack/load_balancers/current.ts";
import { toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { type CloudModel, CLUSTER } from "./cloud/cloud_model.ts";
import {
  createCloud,
  KINDS,
  LB_NAME,
  OWNER,
  placeOf,
  toBackend,
  toNetwork,
  toRecord,
  toSpec,
} from "./cloud/services.ts";
import {
  checkPending,
  checkUnsigned,
  findAsked,
  listUnclear,
  findLost,
  isOwnOrProven,
  isProvenByRecord,
  listUses,
  mayTag,
  toUnclear,
} from "../../../../lib/providers/cloudstack/load_balancers/ownership.ts";
import type { KeptRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { PublicAddress } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";

const OURS = toTags(CLUSTER, OWNER);
const THEIRS = toTags(CLUSTER, { ...OWNER, uid: "other" });

/** What is chosen: an IP with its network, what is taken, or a problem. */
function choose(cloud: CloudModel, fields: Partial<LoadBalancerSpec> = {}): string {
  const spec = toSpec(fields);
  const { address, network, take, problems } = chooseAddress(
    toCurrent(cloud.observation(), spec),
    spec,
  );
  if (address !== undefined) return `${address.ip} in ${network?.id ?? "?"}`;
  if (take?.change.kind === "takeAddress") {
    const { ip = "any", place } = take.change;
    return `take ${ip} in ${"vpcId" in place ? place.vpcId : place.networkId}`;
  }
  return problems.map(({ reason, message }) => `${reason}: ${message}`).join("; ");
}

function addOwnRules(cloud: CloudModel, addressId: string, count: number): void {
  for (let port = 1; port <= count; port += 1) {
    cloud.addRule({
      name: `${LB_NAME}-tcp-${port}`,
      addressId,
      networkId: "net-1",
      publicPort: port,
    });
  }
}

test("a Service without an address gets one in the network of its Nodes, or in their VPC", () => {
  expect(choose(createCloud())).toBe("take any in net-1");
  expect(choose(createCloud("tier"))).toBe("take any in vpc-1");
  expect(choose(createCloud(), { backends: [toBackend(4, 2)] })).toBe("take any in net-2");
});

test("nothing is taken while the network cannot be told, or cannot balance", () => {
  expect(choose(createCloud(), { backends: [] })).toMatch(
    /^NetworkNotUsable: no Node may get traffic/,
  );
  const unknown = [{ nodeName: "node-9", internalIps: [] }];
  expect(choose(createCloud(), { backends: unknown })).toMatch(
    /^NetworkNotUsable: .*network interface/,
  );
  const cloud = createCloud();
  cloud.networks.set("net-1", toNetwork({ id: "net-1", hasLoadBalancers: false }));
  expect(choose(cloud)).toMatch(/^NetworkNotUsable: .*offers no load balancing/);
  expect(choose(cloud, { address: "192.0.2.10" })).toMatch(/^NetworkNotUsable/);
  cloud.networks.delete("net-1");
  expect(choose(cloud)).toMatch(/^NotKnown/);
});

/** Addresses of `net-1`: each its last number, then its tags, rules of the Service, and what else is to say of it. */
test.each([
  ["its own", "1 ours", "192.0.2.1 in net-1"],
  ["not that of another Service", "1 theirs", "take any in net-1"],
  ["not that of another one that its status shows", "1 theirs shown", "take any in net-1"],
  ["not one without tags", "1", "take any in net-1"],
  ["one with its rules", "1 rule", "192.0.2.1 in net-1"],
  ["its own that the status shows", "1 ours rule rule, 2 ours rule shown", "192.0.2.2 in net-1"],
  ["the shown one, not that of more rules", "1 ours rule rule, 2 rule shown", "192.0.2.2 in net-1"],
  ["its own before another shown one", "1 rule rule shown, 2 ours shown", "192.0.2.2 in net-1"],
  ["the one with most rules", "1 ours rule, 2 rule rule", "192.0.2.2 in net-1"],
  ["its own of two with as many rules", "1 rule, 2 ours rule", "192.0.2.2 in net-1"],
  ["the lower one of two that are alike", "2 ours, 1 ours", "192.0.2.1 in net-1"],
  ["a shown one whose rule is just being made again", "1 shown", "192.0.2.1 in net-1"],
  ["not one of another network", "1 ours elsewhere", "take any in net-1"],
  ["not one that got static NAT", "1 ours static", "take any in net-1"],
])("a Service that names no address has %s", (_what, existing, chosen) => {
  const cloud = createCloud();
  const ingress = existing.split(", ").flatMap((text) => {
    const [number, ...words] = text.split(" ");
    const ip = `192.0.2.${number}`;
    const { id } = cloud.addAddress({
      ip,
      networkId: words.includes("elsewhere") ? "net-2" : "net-1",
      isStaticNat: words.includes("static"),
      ...(words.includes("ours") && { tags: OURS }),
      ...(words.includes("theirs") && { tags: THEIRS }),
    });
    addOwnRules(cloud, id, words.filter((one) => one === "rule").length);
    return words.includes("shown") ? [{ ip }] : [];
  });
  expect(choose(cloud, { ingress })).toBe(chosen);
});

const NAMED = "192.0.2.10";
test.each<[string, readonly Partial<PublicAddress>[], RegExp]>([
  ["is free", [], /^take 192\.0\.2\.10 in net-1$/],
  ["is in the network", [{ networkId: "net-1" }], /^192\.0\.2\.10 in net-1$/],
  ["is shared", [{ networkId: "net-1", tags: THEIRS }], /^192\.0\.2\.10 in net-1$/],
  ["is in another network", [{ networkId: "net-2" }], /^AddressNotUsable: .*not in the network/],
  ["is in a VPC", [{ vpcId: "vpc-9" }], /^AddressNotUsable: .*not in the network/],
  [
    "has static NAT",
    [{ networkId: "net-1", isStaticNat: true }],
    /^AddressNotUsable: .*static NAT/,
  ],
  ["is the source NAT", [{ networkId: "net-1", isSourceNat: true }], /^192\.0\.2\.10 in net-1$/],
  ["is being taken", [{ networkId: "net-1", state: "Allocating" }], /^AddressNot.*Allocating/],
  ["is there twice", [{ networkId: "net-2" }, { networkId: "net-1" }], /^192\.0\.2\.10 in net-1$/],
])("the address that a Service names %s", (_what, existing, chosen) => {
  const cloud = createCloud();
  for (const one of existing) cloud.addAddress({ ip: NAMED, ...one });
  // One that the Service has does not matter.
  const { id } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1", tags: OURS });
  addOwnRules(cloud, id, 1);
  expect(choose(cloud, { address: NAMED })).toMatch(chosen);
});

for (const address of ["::1", "x", "192.0.2", "192.0.2.010", "192.0.2.1,192.0.2.2", "\u202e"]) {
  test(`a Service cannot name the address ${JSON.stringify(address)}`, () => {
    expect(choose(createCloud(), { address })).toMatch(/^AddressNotUsable: spec.loadBalancerIP/);
  });
}

test("a named address of a VPC is usable if no other tier has it", () => {
  for (const [networkId, found] of [
    [undefined, /^192.0.2.10 in net-1/],
    ["net-1", /^192.0.2.10 in net-1/],
    ["net-9", /^AddressNotUsable/],
  ] as const) {
    const cloud = createCloud("tier");
    cloud.addAddress({ ip: NAMED, ...placeOf(KINDS.tier), ...(networkId && { networkId }) });
    expect(choose(cloud, { address: NAMED })).toMatch(found);
  }
});

test("a named address is used in its own network, if a Node is there", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: NAMED, networkId: "net-2" });
  const backends = [toBackend(1), toBackend(2), toBackend(4, 2)];
  expect(choose(cloud, { address: NAMED, backends })).toBe(`${NAMED} in net-2`);
});

test("no address is taken while CloudStack is still taking the one that the record names", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.11", state: "Allocating" });
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const asked = { ip: "192.0.2.11", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address: asked });
  expect(choose(cloud, { record })).toMatch(/^AddressNotUsable: .*is being taken/);
  expect(choose(cloud, { record, address: "192.0.2.12" })).toMatch(
    /^AddressNotUsable: .*is being taken/,
  );
  expect(choose(cloud)).toBe("take any in net-1");
});

test("before another address is taken, the one that CloudStack may just be giving is told", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.60", state: "Allocating" });
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const asked = { network, at: "2026-01-01T00:00:00Z", free: false };
  const record = toRecord({ address: asked });
  const unsigned = JSON.stringify({ v: 1, uid: OWNER.uid, address: asked });
  for (const [claim, why] of [
    [{ record }, "may have taken it"],
    [{ record: unsigned }, "may mean it"],
    [{ record: unsigned, address: "192.0.2.10" }, "may mean it"],
  ] as const) {
    const spec = toSpec(claim);
    const { take, problems } = chooseAddress(toCurrent(cloud.observation(), spec), spec);
    expect(take?.change.kind).toBe("takeAddress");
    expect(problems).toMatchObject([{ reason: "AddressNotOurs", isWaiting: false }]);
    expect(problems[0]?.message).toMatch(new RegExp(`^public IP 192\\.0\\.2\\.60 stays: .*${why}`));
  }
});

test("rules keep their network, whatever happens to the Nodes", () => {
  const cloud = createCloud();
  const { id } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1", tags: OURS });
  addOwnRules(cloud, id, 1);
  expect(choose(cloud, { backends: [toBackend(4, 2)] })).toBe("192.0.2.1 in net-1");
  expect(choose(cloud, { backends: [] })).toBe("192.0.2.1 in net-1");
  cloud.networks.delete("net-1");
  expect(choose(cloud, { backends: [toBackend(4, 2)] })).toMatch(/^NotKnown/);
});

type Asked = NonNullable<KeptRecord["address"]>;

const IP = "192.0.2.1";
const ASKED: Asked = { ip: IP, place: { networkId: "net-1" }, atMs: 0, wasFree: true };

function withRecord(cloud: CloudModel, address: Asked = ASKED): Current {
  return { ...toCurrent(cloud.observation(), toSpec()), record: { address } };
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
  ["that was taken with the request", { allocatedAtMs: 600_000 }, {}, true],
  ["that was taken earlier by a clock that is behind", { allocatedAtMs: -9_000_000 }, {}, true],
  ["that was taken when the request was over", { allocatedAtMs: 4_260_001 }, {}, false],
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
    const current = withRecord(cloud, { ...ASKED, ...asked });
    expect(isProvenByRecord(current, address)).toBe(isProven);
    expect([mayTag(current, address), isOwnOrProven(current, address)]).toEqual([
      isProven,
      isProven,
    ]);
    const isNamed = asked.ip === undefined;
    const isPending = fields.state === "Allocating";
    expect(listUnclear(current)).toHaveLength(isNamed && !isProven && !isPending ? 1 : 0);
    expect(checkPending(current)).toHaveLength(isPending ? 1 : 0);
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
  for (const [ageMs, by, isProven] of [
    [86_400_000, undefined, true],
    [86_400_001, undefined, false],
    [86_400_001, "us", true],
  ] as const) {
    const { cloud, address } = setUp();
    cloud.nowMs = ageMs;
    if (by !== undefined) cloud.allocatedBy = new Map([[address.id, by]]);
    const current = withRecord(cloud);
    expect(isProvenByRecord(current, address)).toBe(isProven);
    expect(listUnclear(current)).toHaveLength(isProven ? 0 : 1);
  }
});

test("who took an address decides, where CloudStack says it", () => {
  for (const [by, wasFree, isProven] of [
    ["us", true, true],
    ["us", false, true],
    ["others", true, false],
    [undefined, true, true],
    [undefined, false, false],
  ] as const) {
    const { cloud, address } = setUp();
    cloud.allocatedBy = new Map(by && [[address.id, by]]);
    expect(isProvenByRecord(withRecord(cloud, { ...ASKED, wasFree }), address)).toBe(isProven);
  }
});

test("an address that CloudStack's answer named was taken for the Service, although it was not free", () => {
  const { cloud, address } = setUp();
  const current = withRecord(cloud, { ...ASKED, id: address.id, wasFree: false });
  expect(isProvenByRecord(current, address)).toBe(true);
});

test("findAsked() goes by ID and IP, as far as the record has them", () => {
  const { cloud, address } = setUp();
  expect(findAsked(withRecord(cloud, { ...ASKED, id: address.id }), address)).toBeDefined();
  expect(findAsked(withRecord(cloud, { ...ASKED, id: "other" }), address)).toBeUndefined();
  const { ip: _, ...blind } = ASKED;
  expect(findAsked(withRecord(cloud, blind), address)).toBeUndefined();
  expect(findAsked(toCurrent(cloud.observation(), toSpec()), address)).toBeUndefined();
});

test("an address that something else uses was not left by version 1.x", () => {
  const { cloud, address } = setUp();
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" });
  cloud.addRule({ name: "theirs", addressId: address.id, networkId: "net-1", publicPort: 22 });
  expect(mayTag(toCurrent(cloud.observation(), toSpec()), address)).toBe(false);
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
    listUses(toCurrent(cloud.observation(), toSpec()), {
      ...address,
      isSourceNat: false,
      isStaticNat: false,
    }),
  ).toEqual(["2 port forwardings"]);
  cloud.addRule({ name: "theirs", addressId: address.id, networkId: "net-1", publicPort: 22 });
  cloud.addFirewallRule({ addressId: address.id, startPort: 22, endPort: 22 });
  expect(listUses(toCurrent(cloud.observation(), toSpec()), address)).toEqual([
    "load-balancer rule theirs (rule-004)",
    "firewall rule fw-005",
    "source NAT of its network",
    "static NAT",
    "2 port forwardings",
  ]);
});

test("an address that may have been taken without a choice is told, and stays", () => {
  const { cloud, address } = setUp();
  cloud.addAddress({ ip: "192.0.2.2", networkId: "net-1", tags: new Map([["team", "shop"]]) });
  const { ip: _, ...blind } = ASKED;
  const current = withRecord(cloud, { ...blind, wasFree: false });
  expect(findLost(current).map(({ ip }) => ip)).toEqual([address.ip]);
  expect(findLost(withRecord(cloud))).toEqual([]);
  expect(toUnclear(address)).toMatchObject({ reason: "AddressNotOurs", isWaiting: false });
});

test("without a choice, none is asked for again while the first may still come", () => {
  const { ip: _, ...blind } = ASKED;
  const current = withRecord(createCloud(), { ...blind, wasFree: false });
  const chooseAt = (takenAtWallMs: number) =>
    chooseAddress({ ...current, cloud: { ...current.cloud, takenAtWallMs } }, toSpec());
  expect(chooseAt(659_999).problems.map(({ reason }) => reason)).toEqual(["NotKnown"]);
  expect(chooseAt(659_999).take).toBeUndefined();
  expect(chooseAt(660_000).take?.change.kind).toBe("takeAddress");
});

test("an address that a record of other keys may mean is told", () => {
  const { cloud, address } = setUp();
  cloud.addAddress({ ip: "192.0.2.2", networkId: "net-2" });
  const { id: usedId } = cloud.addAddress({ ip: "192.0.2.3", networkId: "net-1" });
  cloud.addFirewallRule({ addressId: usedId });
  const coming = cloud.addAddress({ ip: "192.0.2.4", state: "Allocating" });
  const { ip: _, ...blind } = ASKED;
  const current = {
    ...toCurrent(cloud.observation(), toSpec()),
    unsigned: { ...blind, wasFree: false },
  };
  expect(checkUnsigned(current).map(({ message }) => message)).toEqual(
    [address.ip, coming.ip].map(
      (ip) =>
        `public IP ${ip} stays: the record on the Service may mean it, but is not signed with the keys in use`,
    ),
  );
});
