import { expect, test } from "bun:test";
import {
  findGate,
  type Gate,
  isGate,
  needsRuleList,
  planGate,
  toNoRuleLists,
} from "../../../../../lib/providers/cloudstack/load_balancers/clients/gate.ts";
import type { GateSite } from "../../../../../lib/providers/cloudstack/load_balancers/clients/firewall.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { Network } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { createCloud, KINDS, LB_NAME, toNetwork, toSpec } from "../cloud/services.ts";

const TIER = KINDS.tier;
const GATES: readonly [string, Network, Gate["kind"] | RegExp][] = [
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
  test(`findGate() of a network with ${what}`, () => {
    const gate = findGate(createCloud("tier").view(), network);
    if (isGate(gate)) expect(gate.kind).toBe(typeof kind === "string" ? kind : "rule");
    else {
      expect(gate.isWaiting).toBe(true);
      expect(gate.message).toMatch(typeof kind === "string" ? /nothing/ : kind);
    }
    expect(isGate(gate)).toBe(typeof kind === "string");
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
  const scene = toScene(cloud.view(), toSpec());
  const port = { ipProtocol: "tcp", publicPort: 80 } as const;
  const base = { scene, address, networkId: "net-1", port, rule, isOwn: true };
  const site: GateSite = { ...base, sources: ["10.0.0.0/8"] };
  expect(needsRuleList({ kind: "rule" }, site)).toBe(true);
  expect(needsRuleList({ kind: "rule" }, { ...base, sources: undefined })).toBe(false);
  expect(needsRuleList({ kind: "firewall" }, site)).toBe(false);
  const acl = { kind: "acl", listId: "list-1", items: [] } as const;
  expect(needsRuleList(acl, site)).toBe(true);
  expect(needsRuleList(acl, { ...base, sources: undefined })).toBe(false);
  cloud.version = { major: 4, minor: 17, patch: 0 };
  expect(needsRuleList(acl, { ...site, scene: toScene(cloud.view(), toSpec()) })).toBe(false);
  expect(planGate({ kind: "rule" }, site)).toEqual({ before: [], after: [], problems: [] });
  expect(planGate({ kind: "firewall" }, site).after).toHaveLength(1);
  expect(planGate({ kind: "acl", listId: "list-1", items: [] }, site).after).toHaveLength(1);
});

test("toNoRuleLists() says what a server would need", () => {
  expect(toNoRuleLists("the network x")).toMatchObject({
    reason: "SourceRangesNotPossible",
    isWaiting: true,
    message: expect.stringContaining("4.18"),
  });
});
