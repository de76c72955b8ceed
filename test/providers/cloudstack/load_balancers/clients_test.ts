import { expect, test } from "bun:test";
import {
  type AclSite,
  isAclWider,
  planAcl,
  planAclRemoval,
} from "../../../../lib/providers/cloudstack/load_balancers/acl.ts";
import { toCurrent } from "../../../../lib/providers/cloudstack/load_balancers/current.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import type { CloudModel } from "./cloud/cloud_model.ts";
import {
  createCloud,
  DESCRIPTION,
  KINDS,
  LB_NAME,
  REASON,
  toNetwork,
  toSpec,
} from "./cloud/services.ts";
import {
  findAccessControl,
  type AccessControl,
  isAccessControl,
  needsRuleList,
  planAccess,
} from "../../../../lib/providers/cloudstack/load_balancers/access.ts";
import {
  type AccessSite,
  isFirewallWider,
  listFirewallRulesOf,
  listOrphans,
  planFirewall,
  planFirewallRemoval,
  planOrphanRemoval,
} from "../../../../lib/providers/cloudstack/load_balancers/firewall.ts";

const A = "10.0.0.0/8";
const B = "192.168.0.0/16";

interface AclSetup {
  readonly cloud: CloudModel;
  readonly site: AclSite;
}

interface SetupOptions {
  readonly sources?: readonly string[];
  /** Description of the load-balancer rule; `none`: there is no rule. */
  readonly rule?: string | "none" | undefined;
  readonly prepare?: (cloud: CloudModel) => void;
}

const REASONS = new Map([
  ["ours", REASON],
  ["apache's", `Managed by the CloudStack Kubernetes Provider for ${LB_NAME}`],
  ["another's", "Managed by Landfall for a9999999989ab4cde8f0123456789abc"],
  ["somebody's", "x"],
]);
const PORTS = new Map([
  ["80", { startPort: 80, endPort: 80 }],
  ["22", { startPort: 22, endPort: 22 }],
  ["443", { startPort: 443, endPort: 443 }],
  ["1-1000", { startPort: 1, endPort: 1_000 }],
  ["all", { protocol: "all", startPort: 1, endPort: 65_535 }],
]);
const CIDRS = new Map([
  ["from-A", { cidrs: [A] }],
  ["from-B", { cidrs: [B] }],
]);

/** Reads `ours from-A, deny all #9`: items with what each has besides letting in everyone to tcp 80. */
function parseItems(text: string): readonly Partial<AclItem>[] {
  return text.split(", ").flatMap((item) => {
    const words = item.split(" ").filter((one) => one !== "");
    const fields = words.map((word): Partial<AclItem> => {
      const reason = REASONS.get(word);
      if (reason !== undefined) return { reason };
      if (word.startsWith("#")) return { number: Number(word.slice(1)) };
      if (word === "deny") return { isAllow: false };
      if (word === "egress") return { isIngress: false };
      const more = word === "plain" ? {} : (PORTS.get(word) ?? CIDRS.get(word));
      if (more === undefined) throw new Error(`nobody knows ${word}`);
      return more;
    });
    return words.length === 0 ? [] : [Object.assign({}, ...fields)];
  });
}

/** Port tcp 80 of a tier, with items in its list. */
function setUpAcl(existing: string, options: SetupOptions = {}): AclSetup {
  const cloud = createCloud("tier");
  const address = cloud.addAddress({ ip: "192.0.2.1", vpcId: "vpc-1", networkId: "net-1" });
  const { rule: description = DESCRIPTION } = options;
  const names = { name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" };
  const rule = description === "none" ? undefined : cloud.addRule({ ...names, description });
  for (const one of parseItems(existing)) cloud.addAclItem({ listId: "list-1", ...one });
  options.prepare?.(cloud);
  const current = toCurrent(cloud.observation(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const items = current.cloud.aclItems.get("list-1") ?? [];
  const base = { current, address, networkId: "net-1", port, isOwn: true, listId: "list-1", items };
  return { cloud, site: { ...base, rule, sources: options.sources } };
}

function describeAcl({ site }: AclSetup): readonly string[] {
  const { before, after } = planAcl(site);
  const toText = ({ change }: (typeof before)[number]): string => {
    if (change.kind === "createAclItem")
      return `+${change.cidrs.join()} at ${change.number ?? "end"}`;
    if (change.kind === "updateAclItem") {
      const { itemId, cidrs, reason } = change;
      return `${itemId} → ${[cidrs ?? [], reason ?? []].flat().join()}`;
    }
    return change.kind === "delete" ? `-${change.id}` : change.kind;
  };
  return [...before.map((one) => `before: ${toText(one)}`), ...after.map(toText)];
}

const NEW = "+0.0.0.0/0 at";
test.each<[string, string, SetupOptions, string]>([
  ["makes an item", "", {}, `${NEW} end`],
  ["makes an item for the ranges", "", { sources: [A, B] }, `+${A},${B} at end`],
  ["keeps an item", "ours", {}, ""],
  ["keeps an item of the Go provider", "apache's", {}, ""],
  ["changes the blocks in place", "ours", { sources: [A] }, `before: acl-003 → ${A}`],
  ["keeps one of two", "ours, ours", {}, "before: -acl-004"],
  ["keeps the fitting one", "ours from-A, ours", {}, "before: -acl-003"],
  ["is before what denies everyone", "22 #7, deny all #9", {}, `${NEW} 8`],
  ["finds a free number further up", "22 #8, deny all #9", {}, `${NEW} 7`],
  ["stays behind what denies some", "deny all #1 from-A", {}, `${NEW} end`],
  ["makes none without its rule", "", { rule: "none" }, ""],
  [
    "changes one without its rule",
    "ours",
    { rule: "none", sources: [A] },
    `before: acl-002 → ${A}`,
  ],
  ["does not rely on one of another Service", "another's", {}, `${NEW} end`],
  ["relies on one of somebody else", "somebody's", {}, ""],
  [
    "takes the item of version 1.x beside its rule",
    "plain",
    { rule: "" },
    `before: acl-003 → ${REASON}`,
  ],
  ["leaves an item without reason beside a rule of ours", "plain", {}, ""],
])("planAcl() %s", (_what, existing, options, done) => {
  const setup = setUpAcl(existing, options);
  expect(describeAcl(setup).join("; ")).toBe(done);
  expect(planAcl(setup.site).problems).toEqual([]);
});

test.each<[string, string, RegExp, boolean]>([
  ["an item of others that denies the port", "somebody's deny", /acl-003 .* not of this/, true],
  ["an item of others that lets in fewer", "somebody's from-A", /acl-003 .* not of this/, true],
  ["no number in front of what denies everyone", "deny all #1", /item 1 .* higher number/, true],
  ["an own item behind that", "deny all #1, ours", /denies tcp 80 before item 2/, false],
])("planAcl() says that there is %s", (_what, existing, message, isWaiting) => {
  const { before, after, problems } = planAcl(setUpAcl(existing).site);
  expect([...before, ...after]).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting }]);
  expect(problems[0]?.message).toMatch(message);
});

test("an item of version 1.x that another Service of that version may need stays", () => {
  const prepare = (cloud: CloudModel): void => {
    const { id: addressId } = cloud.addAddress({
      ip: "192.0.2.2",
      vpcId: "vpc-1",
      networkId: "net-1",
    });
    cloud.addRule({
      name: "a9999999989ab4cde8f0123456789abc-tcp-80",
      addressId,
      networkId: "net-1",
    });
  };
  const { cloud, site } = setUpAcl("plain", { rule: "", prepare });
  expect(describeAcl({ cloud, site })).toEqual([]);
  const rule = site.rule;
  if (rule === undefined) throw new Error("no rule");
  expect(planAclRemoval(site.current, rule, () => false)).toEqual([]);
});

test.each<[string, SetupOptions, boolean]>([
  ["somebody's 1-1000", { sources: [A] }, true],
  ["another's", { sources: [A] }, true],
  ["somebody's 1-1000 from-A", { sources: [A] }, false],
  ["somebody's 1-1000 deny", { sources: [A] }, false],
  ["somebody's 1-1000 egress", { sources: [A] }, false],
  ["ours", { sources: [A] }, false],
  ["plain", { sources: [A], rule: "" }, false],
  ["somebody's 1-1000", {}, false],
])("isAclWider() finds what others let in: %s %j is %p", (existing, options, isWider) => {
  expect(isAclWider(setUpAcl(existing, options).site)).toBe(isWider);
});

test.each([
  ["", ["acl-003", "acl-004"]],
  [DESCRIPTION, ["acl-003"]],
])("the removal of a rule with the description %j takes along its items", (description, gone) => {
  const { site } = setUpAcl("ours, plain, somebody's, ours 443", { rule: description });
  if (site.rule === undefined) throw new Error("no rule");
  const steps = planAclRemoval(site.current, site.rule, () => false);
  expect(steps.map(({ change }) => change.kind === "delete" && change.id)).toEqual(gone);
});

test("before 4.18, an item that would open a Service with the same port in the tier is a problem", () => {
  const old = (cloud: CloudModel): void => {
    cloud.version = { major: 4, minor: 17, patch: 0 };
  };
  const other = "another's from-A";
  const { after, problems } = planAcl(setUpAcl(other, { sources: [B], prepare: old }).site);
  expect(after).toEqual([]);
  expect(problems).toMatchObject([{ reason: "SourceRangesNotPossible", isWaiting: true }]);
  expect(planAcl(setUpAcl(other, { sources: [A], prepare: old }).site).problems).toEqual([]);
  expect(planAcl(setUpAcl(other, { sources: [B] }).site).problems).toEqual([]);
});

const TIER = KINDS.tier;
const GATES: readonly [string, Network, AccessControl["kind"] | RegExp][] = [
  ["a firewall", KINDS.firewall, "firewall"],
  ["a firewall and an ACL", { ...TIER, hasFirewall: true }, "firewall"],
  ["an ACL list", TIER, "acl"],
  ["neither", KINDS.open, "rule"],
  ["default_allow", KINDS.tierAllow, "rule"],
  [
    "default_deny",
    { ...TIER, aclListName: "default_deny" },
    /lets no client in and cannot be changed/,
  ],
  [
    "an ACL list that is not shown",
    { ...TIER, aclListId: "list-9" },
    /does not show the ACL list list-9/,
  ],
  [
    "no ACL list",
    toNetwork({ id: "net-1", hasFirewall: false, hasNetworkAcl: true }),
    /has no ACL list/,
  ],
];
for (const [what, network, kind] of GATES) {
  test(`findAccessControl() of a network with ${what}`, () => {
    const access = findAccessControl(createCloud("tier").observation(), network);
    if (isAccessControl(access)) expect(access.kind).toBe(typeof kind === "string" ? kind : "rule");
    else {
      expect(access.isWaiting).toBe(true);
      expect(access.message).toMatch(typeof kind === "string" ? /nothing/ : kind);
    }
    expect(isAccessControl(access)).toBe(typeof kind === "string");
  });
}

test("only the list of a rule restricts clients where there is no firewall and no ACL", () => {
  const cloud = createCloud("open");
  const address = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({
    name: `${LB_NAME}-tcp-80`,
    addressId: address.id,
    networkId: "net-1",
  });
  const current = toCurrent(cloud.observation(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const base = { current, address, networkId: "net-1", port, rule, isOwn: true };
  const site: AccessSite = { ...base, sources: ["10.0.0.0/8"] };
  expect(needsRuleList({ kind: "rule" }, site)).toBe(true);
  expect(needsRuleList({ kind: "rule" }, { ...base, sources: undefined })).toBe(false);
  expect(needsRuleList({ kind: "firewall" }, site)).toBe(false);
  const acl = { kind: "acl", listId: "list-1", items: [] } as const;
  expect(needsRuleList(acl, site)).toBe(true);
  expect(needsRuleList(acl, { ...base, sources: undefined })).toBe(false);
  cloud.version = { major: 4, minor: 17, patch: 0 };
  expect(needsRuleList(acl, { ...site, current: toCurrent(cloud.observation(), toSpec()) })).toBe(
    false,
  );
  expect(planAccess({ kind: "rule" }, site)).toEqual({ before: [], after: [], problems: [] });
  expect(planAccess({ kind: "firewall" }, site).after).toHaveLength(1);
  expect(planAccess({ kind: "acl", listId: "list-1", items: [] }, site).after).toHaveLength(1);
});

const C = "203.0.113.0/24";
const ALL = "0.0.0.0/0";

interface FirewallSetup {
  readonly cloud: CloudModel;
  readonly site: AccessSite;
}

/** Port tcp 80 of an address, with or without its load-balancer rule, and with firewall rules. */
function setUpFirewall(
  existing: readonly Partial<FirewallRule>[],
  fields: Partial<Omit<AccessSite, "rule">> & { readonly hasRule?: boolean } = {},
): FirewallSetup {
  const { hasRule = true, ...rest } = fields;
  const cloud = createCloud();
  const address = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const names = { name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" };
  const rule = hasRule ? cloud.addRule(names) : undefined;
  for (const one of existing) cloud.addFirewallRule({ addressId: address.id, ...one });
  const current = toCurrent(cloud.observation(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const base = { current, address, networkId: "net-1", port, sources: undefined, isOwn: true };
  return { cloud, site: { ...base, rule, ...rest } };
}

/** What is done, as `-` with the blocks of what goes and `+` with those of what comes. */
function describeFirewall({ cloud, site }: FirewallSetup): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = planFirewall(site);
  const toText = ({ change }: (typeof before)[number]): string => {
    if (change.kind === "createFirewallRule") return `+${change.cidrs.join()}`;
    if (change.kind !== "delete") return change.kind;
    return `-${cloud.firewallRules.get(change.id)?.cidrs?.join() ?? "?"}`;
  };
  return { before: before.map(toText).join(" "), after: after.map(toText).join(" ") };
}

const REPLACEMENTS: readonly [
  readonly (readonly string[])[],
  readonly string[] | undefined,
  string,
][] = [
  [[], undefined, `+${ALL}`],
  [[], [A], `+${A}`],
  [[[A]], [A], ""],
  [[[]], undefined, ""],
  [[[A, B]], [B, A], ""],
  // Nothing in common: the new one first, so nobody is cut off.
  [[[A]], [B], `+${B} -${A}`],
  [[[ALL]], [A], `+${A} -${ALL}`],
  // A block in common: CloudStack refuses both at once.
  [[[A]], [A, B], `-${A} +${A},${B}`],
  [[[A], [C]], [A, B], `-${A} +${A},${B} -${C}`],
  [[[A], [B]], [B], `-${A}`],
  [[[A], [A]], [A], `-${A}`],
];
for (const [existing, sources, done] of REPLACEMENTS) {
  const from = existing.join(" and ") || "nothing";
  test(`planFirewall() makes ${from} into ${sources?.join() ?? ALL}: ${done || "no change"}`, () => {
    const setup = setUpFirewall(
      existing.map((cidrs) => ({ cidrs })),
      { sources },
    );
    expect(describeFirewall(setup)).toEqual({ before: "", after: done });
  });
}

test("a firewall rule whose blocks cannot be read is replaced, and goes first", () => {
  const { cloud, site } = setUpFirewall([{}]);
  for (const one of cloud.firewallRules.values()) {
    const { cidrs: _, ...rest } = one;
    cloud.firewallRules.set(one.id, rest);
  }
  const current = toCurrent(cloud.observation(), toSpec());
  expect(describeFirewall({ cloud, site: { ...site, current } }).after).toBe(`-? +${ALL}`);
});

test("a firewall rule that is being deleted does not count", () => {
  expect(describeFirewall(setUpFirewall([{ state: "Deleting" }])).after).toBe(`-${ALL} +${ALL}`);
});

test("firewall rules for other ports, ranges and protocols are of others", () => {
  const others = [
    { startPort: 80, endPort: 81, cidrs: [A] },
    { startPort: 443, endPort: 443 },
    { protocol: "udp" },
    { protocol: "icmp" },
  ];
  expect(describeFirewall(setUpFirewall(others)).after).toBe(`+${ALL}`);
});

test("a range of others that lets all of them in is enough", () => {
  expect(describeFirewall(setUpFirewall([{ startPort: 1, endPort: 1_000 }])).after).toBe("");
});

test("a range of others that CloudStack takes for a conflict is a problem", () => {
  const { site } = setUpFirewall([{ startPort: 1, endPort: 1_000, cidrs: [A] }], {
    sources: [A, B],
  });
  const { after, problems } = planFirewall(site);
  expect(after).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting: true }]);
});

test("on the user's address, a firewall rule for the port from before is the user's", () => {
  const setup = setUpFirewall([{ cidrs: [A] }], { hasRule: false, isOwn: false });
  expect(describeFirewall(setup)).toEqual({ before: "", after: "" });
  expect(planFirewall(setup.site).problems).toMatchObject([
    { reason: "PortInUse", isWaiting: true },
  ]);
});

test("on an address of its own, what is left for the port does not open a new rule wider", () => {
  expect(describeFirewall(setUpFirewall([{}], { hasRule: false, sources: [A] })).before).toBe(
    `-${ALL}`,
  );
  expect(
    describeFirewall(setUpFirewall([{ cidrs: [A] }], { hasRule: false, sources: [A] })).before,
  ).toBe("");
});

test("isFirewallWider() finds what others let in", () => {
  const range = { startPort: 1, endPort: 1_000 };
  expect(isFirewallWider(setUpFirewall([range], { sources: [A] }).site)).toBe(true);
  expect(
    isFirewallWider(setUpFirewall([{ ...range, protocol: "all" }], { sources: [A] }).site),
  ).toBe(true);
  expect(
    isFirewallWider(setUpFirewall([{ ...range, cidrs: ["10.1.0.0/16"] }], { sources: [A] }).site),
  ).toBe(false);
  expect(isFirewallWider(setUpFirewall([range]).site)).toBe(false);
  expect(isFirewallWider(setUpFirewall([{}], { sources: [A] }).site)).toBe(false);
});

test("the removal of a rule takes exactly its firewall rules along", () => {
  const { cloud, site } = setUpFirewall([{}, { startPort: 80, endPort: 90 }, { protocol: "udp" }]);
  const [own] = [...cloud.firewallRules.keys()];
  if (site.rule === undefined) throw new Error("no rule");
  expect(listFirewallRulesOf(site.current, site.rule).map(({ id }) => id)).toEqual([own ?? ""]);
  expect(planFirewallRemoval(site.current, site.rule).map(({ change }) => change)).toEqual([
    { kind: "delete", what: "firewallRule", id: own ?? "" },
  ]);
});

test("a firewall rule in a network without a firewall belongs to no rule", () => {
  const { cloud, site } = setUpFirewall([{}]);
  const network = cloud.networks.get("net-1");
  if (site.rule === undefined || network === undefined) throw new Error("no rule");
  cloud.networks.set("net-1", { ...network, hasFirewall: false });
  expect(listFirewallRulesOf(toCurrent(cloud.observation(), toSpec()), site.rule)).toEqual([]);
});

test("firewall rules for a port of the Service without a load-balancer rule are orphans", () => {
  const ports = [
    { startPort: 80, endPort: 80 },
    { startPort: 443, endPort: 443 },
  ];
  const { site } = setUpFirewall(ports, { hasRule: false });
  const [orphan, ...more] = listOrphans(site.current, site.address);
  expect([orphan?.startPort, more]).toEqual([80, []]);
  expect(planOrphanRemoval(site.current, site.address)).toHaveLength(1);
  const whole = setUpFirewall(ports).site;
  expect(listOrphans(whole.current, whole.address)).toEqual([]);
});

test("firewall rules seen beside a rule that is gone are orphans, also for another port", () => {
  const ports = [443, 8_443, 22].map((port) => ({ startPort: port, endPort: port }));
  const { cloud, site } = setUpFirewall(ports, { hasRule: false });
  const [gone = "", ofAnother = ""] = cloud.firewallRules.keys();
  const orphans = new Map([
    [gone, LB_NAME],
    [ofAnother, "a9999999989ab4cde8f0123456789abc"],
  ]);
  const list = (): readonly unknown[] =>
    listOrphans(toCurrent({ ...cloud.observation(), orphans }, toSpec()), site.address).map(
      ({ id }) => id,
    );
  expect(list()).toEqual([gone]);
  const place = { addressId: site.address.id, networkId: "net-1", publicPort: 443 };
  cloud.addRule({ name: "theirs", ...place });
  expect(list()).toEqual([]);
});

test("on an address of a person, a firewall rule of the Service is not in the way of its rule", () => {
  const { cloud, site } = setUpFirewall([{ cidrs: [ALL] }], { hasRule: false, sources: [A] });
  const foreign = { ...site, isOwn: false };
  expect(planFirewall(foreign).problems).toMatchObject([{ reason: "PortInUse" }]);
  const [gone = ""] = cloud.firewallRules.keys();
  const orphans = new Map([[gone, LB_NAME]]);
  const current = toCurrent({ ...cloud.observation(), orphans }, toSpec());
  expect(planFirewall({ ...foreign, current })).toMatchObject({
    problems: [],
    before: [{ change: { kind: "delete", what: "firewallRule", id: gone } }],
  });
});

test("a rule that cannot get its clients because of a foreign one loses those that may no longer connect", () => {
  const { cloud, site } = setUpFirewall(
    [{ cidrs: [ALL] }, { startPort: 1, endPort: 1_000, cidrs: [A] }],
    {
      sources: [A, B],
    },
  );
  const [ours] = [...cloud.firewallRules.keys()];
  const { after, problems } = planFirewall(site);
  expect(after.map(({ change }) => change)).toEqual([
    { kind: "delete", what: "firewallRule", id: ours ?? "" },
  ]);
  expect(problems).toMatchObject([{ reason: "PortInUse" }]);
});
