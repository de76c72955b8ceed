import { expect, test } from "bun:test";
import {
  type AclSite,
  isAclWider,
  isAllowing,
  isExactly,
  listOwnItems,
  planAcl,
  planAclRemoval,
  toDeletion,
} from "../../../../../lib/providers/cloudstack/load_balancers/clients/acl.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { AclItem } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";
import { createCloud, DESCRIPTION, LB_NAME, REASON, toSpec } from "../cloud/services.ts";

const A = "10.0.0.0/8";
const B = "192.168.0.0/16";
const APACHE = `Managed by the CloudStack Kubernetes Provider for ${LB_NAME}`;
const OTHER = "Managed by Landfall for a9999999989ab4cde8f0123456789abc";

interface Setup {
  readonly cloud: CloudModel;
  readonly site: AclSite;
}

interface SetupOptions {
  readonly sources?: readonly string[];
  /** Description of the load-balancer rule; `none`: there is no rule. */
  readonly rule?: string | "none" | undefined;
  readonly prepare?: (cloud: CloudModel) => void;
}

/** Port tcp 80 of a tier, with items in its list. */
function setUp(existing: readonly Partial<AclItem>[], options: SetupOptions = {}): Setup {
  const cloud = createCloud("tier");
  const address = cloud.addAddress({ ip: "192.0.2.1", vpcId: "vpc-1", networkId: "net-1" });
  const { rule: description = DESCRIPTION } = options;
  const names = { name: `${LB_NAME}-tcp-80`, addressId: address.id, networkId: "net-1" };
  const rule = description === "none" ? undefined : cloud.addRule({ ...names, description });
  for (const one of existing) cloud.addAclItem({ listId: "list-1", ...one });
  options.prepare?.(cloud);
  const scene = toScene(cloud.view(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const items = scene.view.aclItems.get("list-1") ?? [];
  const base = { scene, address, networkId: "net-1", port, isOwn: true, listId: "list-1", items };
  return { cloud, site: { ...base, rule, sources: options.sources } };
}

function describe({ site }: Setup): readonly string[] {
  const { before, after } = planAcl(site);
  const toText = ({ change }: (typeof before)[number]): string => {
    if (change.kind === "createAclItem")
      return `+${change.cidrs.join()} at ${change.number ?? "end"}`;
    if (change.kind === "updateAclItem") {
      const { itemId, cidrs, reason } = change;
      return `${itemId} → ${[cidrs ?? [], reason ?? []].flat().join()}`;
    }
    return change.kind === "deleteAclItem" ? `-${change.itemId}` : change.kind;
  };
  return [...before.map((one) => `before: ${toText(one)}`), ...after.map(toText)];
}

const DENY_ALL = { protocol: "all", startPort: 1, endPort: 65_535, isAllow: false };
const PLANS: readonly [string, Setup, readonly string[]][] = [
  ["makes an item", setUp([]), ["+0.0.0.0/0 at end"]],
  ["makes an item for the ranges", setUp([], { sources: [A, B] }), [`+${A},${B} at end`]],
  ["keeps an item", setUp([{ reason: REASON }]), []],
  ["keeps an item of the Go provider", setUp([{ reason: APACHE }]), []],
  [
    "changes the blocks in place",
    setUp([{ reason: REASON }], { sources: [A] }),
    [`before: acl-003 → ${A}`],
  ],
  ["keeps one of two", setUp([{ reason: REASON }, { reason: REASON }]), ["before: -acl-004"]],
  [
    "keeps the fitting one",
    setUp([{ reason: REASON, cidrs: [A] }, { reason: REASON }]),
    ["before: -acl-003"],
  ],
  [
    "is before what denies everyone",
    setUp([
      { number: 7, isAllow: true, startPort: 22, endPort: 22 },
      { ...DENY_ALL, number: 9 },
    ]),
    ["+0.0.0.0/0 at 8"],
  ],
  [
    "finds a free number further up",
    setUp([
      { number: 8, startPort: 22, endPort: 22 },
      { ...DENY_ALL, number: 9 },
    ]),
    ["+0.0.0.0/0 at 7"],
  ],
  [
    "stays behind what denies some",
    setUp([{ ...DENY_ALL, number: 1, cidrs: [A] }]),
    ["+0.0.0.0/0 at end"],
  ],
  ["makes none without its rule", setUp([], { rule: "none" }), []],
  [
    "changes one without its rule",
    setUp([{ reason: REASON }], { rule: "none", sources: [A] }),
    [`before: acl-002 → ${A}`],
  ],
  ["does not rely on one of another Service", setUp([{ reason: OTHER }]), ["+0.0.0.0/0 at end"]],
  ["relies on one of somebody else", setUp([{ reason: "mine" }]), []],
  [
    "takes the item of version 1.x beside its rule",
    setUp([{}], { rule: "" }),
    [`before: acl-003 → ${REASON}`],
  ],
  ["leaves an item without reason beside a rule of ours", setUp([{}]), []],
];
for (const [what, setup, done] of PLANS) {
  test(`planAcl() ${what}`, () => {
    expect(describe(setup)).toEqual([...done]);
    expect(planAcl(setup.site).problems).toEqual([]);
  });
}

const PROBLEMS: readonly [string, Setup, RegExp, boolean][] = [
  [
    "an item of others that denies the port",
    setUp([{ isAllow: false, reason: "x" }]),
    /acl-003 .* not of this Service/,
    true,
  ],
  [
    "an item of others that lets in fewer",
    setUp([{ cidrs: [A], reason: "x" }]),
    /acl-003 .* not of this Service/,
    true,
  ],
  [
    "no number in front of what denies everyone",
    setUp([{ ...DENY_ALL, number: 1 }]),
    /item 1 .* higher number/,
    true,
  ],
  [
    "an own item behind what denies everyone",
    setUp([{ ...DENY_ALL, number: 1 }, { reason: REASON }]),
    /denies tcp 80 before item 2/,
    false,
  ],
];
for (const [what, setup, message, isWaiting] of PROBLEMS) {
  test(`planAcl() says that there is ${what}`, () => {
    const { before, after, problems } = planAcl(setup.site);
    expect([...before, ...after]).toEqual([]);
    expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting }]);
    expect(problems[0]?.message).toMatch(message);
  });
}

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
  const { cloud, site } = setUp([{}], { rule: "", prepare });
  expect(describe({ cloud, site })).toEqual([]);
  const rule = site.rule;
  if (rule === undefined) throw new Error("no rule");
  expect(planAclRemoval(site.scene, rule, () => false)).toEqual([]);
});

test("isAclWider() finds what others let in", () => {
  const range = { startPort: 1, endPort: 1_000, reason: "x" };
  expect(isAclWider(setUp([range], { sources: [A] }).site)).toBe(true);
  expect(isAclWider(setUp([{ reason: OTHER }], { sources: [A] }).site)).toBe(true);
  expect(isAclWider(setUp([{ ...range, cidrs: [A] }], { sources: [A] }).site)).toBe(false);
  expect(isAclWider(setUp([{ ...range, isAllow: false }], { sources: [A] }).site)).toBe(false);
  expect(isAclWider(setUp([{ ...range, isIngress: false }], { sources: [A] }).site)).toBe(false);
  expect(isAclWider(setUp([{ reason: REASON }], { sources: [A] }).site)).toBe(false);
  expect(isAclWider(setUp([{}], { sources: [A], rule: "" }).site)).toBe(false);
  expect(isAclWider(setUp([range]).site)).toBe(false);
});

test("the removal of a rule takes along its items, those of version 1.x only beside a rule of that version", () => {
  const items = [
    { reason: REASON },
    {},
    { reason: "x" },
    { reason: REASON, startPort: 443, endPort: 443 },
  ];
  for (const [rule, gone] of [
    ["", ["acl-003", "acl-004"]],
    [DESCRIPTION, ["acl-003"]],
  ] as const) {
    const { site } = setUp(items, { rule });
    if (site.rule === undefined) throw new Error("no rule");
    const steps = planAclRemoval(site.scene, site.rule, () => false);
    expect(steps.map(({ change }) => change.kind === "deleteAclItem" && change.itemId)).toEqual([
      ...gone,
    ]);
  }
});

test("an item that another rule of the Service needs stays", () => {
  const { site } = setUp([{ reason: REASON }]);
  if (site.rule === undefined) throw new Error("no rule");
  expect(planAclRemoval(site.scene, site.rule, () => true)).toEqual([]);
});

test("listOwnItems() goes by the reason, and toDeletion() names the list", () => {
  const { site } = setUp([{ reason: REASON }, { reason: APACHE }, { reason: OTHER }, {}]);
  const [first, second, ...more] = listOwnItems(site.scene);
  expect([first?.reason, second?.reason, more]).toEqual([REASON, APACHE, []]);
  if (first === undefined) throw new Error("no item");
  expect(toDeletion(site.scene, first, "net-1")).toMatchObject({
    turn: "net-1",
    change: { kind: "deleteAclItem", itemId: first.id, listId: "list-1" },
  });
  expect([isAllowing(first), isExactly(first, { ipProtocol: "tcp", publicPort: 80 })]).toEqual([
    true,
    true,
  ]);
  expect(isExactly(first, { ipProtocol: "udp", publicPort: 80 })).toBe(false);
});

test("before 4.18, an item that would open a Service with the same port in the tier is a problem", () => {
  const old = (cloud: CloudModel): void => {
    cloud.version = { major: 4, minor: 17, patch: 0 };
  };
  const other = { reason: OTHER, cidrs: [A] };
  const { after, problems } = planAcl(setUp([other], { sources: [B], prepare: old }).site);
  expect(after).toEqual([]);
  expect(problems).toMatchObject([{ reason: "SourceRangesNotPossible", isWaiting: true }]);
  expect(planAcl(setUp([other], { sources: [A], prepare: old }).site).problems).toEqual([]);
  expect(planAcl(setUp([other], { sources: [B] }).site).problems).toEqual([]);
});
