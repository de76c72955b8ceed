import { expect, test } from "bun:test";
import {
  type GateSite,
  isFirewallWider,
  listFirewallRulesOf,
  listOrphans,
  planFirewall,
  planFirewallRemoval,
  planOrphanRemoval,
} from "../../../../../lib/providers/cloudstack/load_balancers/clients/firewall.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { FirewallRule } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";
import { createCloud, LB_NAME, toSpec } from "../cloud/services.ts";

const A = "10.0.0.0/8";
const B = "192.168.0.0/16";
const C = "203.0.113.0/24";
const ALL = "0.0.0.0/0";

interface Setup {
  readonly cloud: CloudModel;
  readonly site: GateSite;
}

/** Port tcp 80 of an address, with or without its load-balancer rule, and with firewall rules. */
function setUp(
  existing: readonly Partial<FirewallRule>[],
  fields: Partial<Omit<GateSite, "rule">> & { readonly hasRule?: boolean } = {},
): Setup {
  const { hasRule = true, ...rest } = fields;
  const cloud = createCloud();
  const address = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const names = { name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" };
  const rule = hasRule ? cloud.addRule(names) : undefined;
  for (const one of existing) cloud.addFirewallRule({ addressId: address.id, ...one });
  const scene = toScene(cloud.view(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const base = { scene, address, networkId: "net-1", port, sources: undefined, isOwn: true };
  return { cloud, site: { ...base, rule, ...rest } };
}

/** What is done, as `-` with the blocks of what goes and `+` with those of what comes. */
function describe({ cloud, site }: Setup): { readonly before: string; readonly after: string } {
  const { before, after } = planFirewall(site);
  const toText = ({ change }: (typeof before)[number]): string => {
    if (change.kind === "createFirewallRule") return `+${change.cidrs.join()}`;
    if (change.kind !== "deleteFirewallRule") return change.kind;
    return `-${cloud.firewallRules.get(change.firewallRuleId)?.cidrs?.join() ?? "?"}`;
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
    const setup = setUp(
      existing.map((cidrs) => ({ cidrs })),
      { sources },
    );
    expect(describe(setup)).toEqual({ before: "", after: done });
  });
}

test("a firewall rule whose blocks cannot be read is replaced, and goes first", () => {
  const { cloud, site } = setUp([{}]);
  for (const one of cloud.firewallRules.values()) {
    const { cidrs: _, ...rest } = one;
    cloud.firewallRules.set(one.id, rest);
  }
  const scene = toScene(cloud.view(), toSpec());
  expect(describe({ cloud, site: { ...site, scene } }).after).toBe(`-? +${ALL}`);
});

test("a firewall rule that is being deleted does not count", () => {
  expect(describe(setUp([{ state: "Deleting" }])).after).toBe(`-${ALL} +${ALL}`);
});

test("firewall rules for other ports, ranges and protocols are of others", () => {
  const others = [
    { startPort: 80, endPort: 81, cidrs: [A] },
    { startPort: 443, endPort: 443 },
    { protocol: "udp" },
    { protocol: "icmp" },
  ];
  expect(describe(setUp(others)).after).toBe(`+${ALL}`);
});

test("a range of others that lets all of them in is enough", () => {
  expect(describe(setUp([{ startPort: 1, endPort: 1_000 }])).after).toBe("");
});

test("a range of others that CloudStack takes for a conflict is a problem", () => {
  const { site } = setUp([{ startPort: 1, endPort: 1_000, cidrs: [A] }], { sources: [A, B] });
  const { after, problems } = planFirewall(site);
  expect(after).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting: true }]);
});

test("on the user's address, a firewall rule for the port from before is the user's", () => {
  const setup = setUp([{ cidrs: [A] }], { hasRule: false, isOwn: false });
  expect(describe(setup)).toEqual({ before: "", after: "" });
  expect(planFirewall(setup.site).problems).toMatchObject([
    { reason: "PortInUse", isWaiting: true },
  ]);
});

test("on an address of its own, what is left for the port does not open a new rule wider", () => {
  expect(describe(setUp([{}], { hasRule: false, sources: [A] })).before).toBe(`-${ALL}`);
  expect(describe(setUp([{ cidrs: [A] }], { hasRule: false, sources: [A] })).before).toBe("");
});

test("isFirewallWider() finds what others let in", () => {
  const range = { startPort: 1, endPort: 1_000 };
  expect(isFirewallWider(setUp([range], { sources: [A] }).site)).toBe(true);
  expect(isFirewallWider(setUp([{ ...range, protocol: "all" }], { sources: [A] }).site)).toBe(true);
  expect(
    isFirewallWider(setUp([{ ...range, cidrs: ["10.1.0.0/16"] }], { sources: [A] }).site),
  ).toBe(false);
  expect(isFirewallWider(setUp([range]).site)).toBe(false);
  expect(isFirewallWider(setUp([{}], { sources: [A] }).site)).toBe(false);
});

test("the removal of a rule takes exactly its firewall rules along", () => {
  const { cloud, site } = setUp([{}, { startPort: 80, endPort: 90 }, { protocol: "udp" }]);
  const [own] = [...cloud.firewallRules.keys()];
  if (site.rule === undefined) throw new Error("no rule");
  expect(listFirewallRulesOf(site.scene, site.rule).map(({ id }) => id)).toEqual([own ?? ""]);
  expect(planFirewallRemoval(site.scene, site.rule).map(({ change }) => change)).toEqual([
    { kind: "deleteFirewallRule", firewallRuleId: own ?? "" },
  ]);
});

test("a firewall rule in a network without a firewall belongs to no rule", () => {
  const { cloud, site } = setUp([{}]);
  const network = cloud.networks.get("net-1");
  if (site.rule === undefined || network === undefined) throw new Error("no rule");
  cloud.networks.set("net-1", { ...network, hasFirewall: false });
  expect(listFirewallRulesOf(toScene(cloud.view(), toSpec()), site.rule)).toEqual([]);
});

test("firewall rules for a port of the Service without a load-balancer rule are orphans", () => {
  const ports = [
    { startPort: 80, endPort: 80 },
    { startPort: 443, endPort: 443 },
  ];
  const { site } = setUp(ports, { hasRule: false });
  const [orphan, ...more] = listOrphans(site.scene, site.address);
  expect([orphan?.startPort, more]).toEqual([80, []]);
  expect(planOrphanRemoval(site.scene, site.address)).toHaveLength(1);
  const whole = setUp(ports).site;
  expect(listOrphans(whole.scene, whole.address)).toEqual([]);
});

test("firewall rules seen beside a rule that is gone are orphans, also for another port", () => {
  const ports = [443, 8_443, 22].map((port) => ({ startPort: port, endPort: port }));
  const { cloud, site } = setUp(ports, { hasRule: false });
  const [gone = "", ofAnother = ""] = cloud.firewallRules.keys();
  const orphans = new Map([
    [gone, LB_NAME],
    [ofAnother, "a9999999989ab4cde8f0123456789abc"],
  ]);
  const list = (): readonly unknown[] =>
    listOrphans(toScene({ ...cloud.view(), orphans }, toSpec()), site.address).map(({ id }) => id);
  expect(list()).toEqual([gone]);
  const place = { addressId: site.address.id, networkId: "net-1", publicPort: 443 };
  cloud.addRule({ name: "theirs", ...place });
  expect(list()).toEqual([]);
});

test("a rule that cannot get its clients because of a foreign one loses those that may no longer connect", () => {
  const { cloud, site } = setUp([{ cidrs: [ALL] }, { startPort: 1, endPort: 1_000, cidrs: [A] }], {
    sources: [A, B],
  });
  const [ours] = [...cloud.firewallRules.keys()];
  const { after, problems } = planFirewall(site);
  expect(after.map(({ change }) => change)).toEqual([
    { kind: "deleteFirewallRule", firewallRuleId: ours ?? "" },
  ]);
  expect(problems).toMatchObject([{ reason: "PortInUse" }]);
});
