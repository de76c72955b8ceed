import { expect, test } from "bun:test";
import {
  mustReplace,
  planUpdate,
  type RuleSite,
  toCreation,
  toDeletion,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/rules.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { Rule } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import { createCloud, DESCRIPTION, LB_NAME, toSpec } from "../cloud/services.ts";

const A = ["10.0.0.0/8"];

interface Setup {
  readonly site: RuleSite;
  readonly rule: Rule;
}

function setUp(fields: Partial<Rule>, cidrs?: readonly string[], minor = 22): Setup {
  const cloud = createCloud();
  cloud.version = { major: 4, minor, patch: 0 };
  const address = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const base = { name: `${LB_NAME}-tcp-80`, description: DESCRIPTION, addressId: address.id };
  const rule = cloud.addRule({ ...base, networkId: "net-1", ...fields });
  const { wanted } = toWanted(toSpec());
  const [port] = wanted?.ports ?? [];
  if (wanted === undefined || port === undefined) throw new Error("not wanted");
  const scene = toScene(cloud.view(), toSpec());
  return { site: { scene, address, networkId: "net-1", port, wanted, cidrs }, rule };
}

const CASES: readonly [string, Setup, "replace" | object | undefined][] = [
  ["is as it should be", setUp({}), undefined],
  ["has the list of everyone", setUp({ cidrs: ["0.0.0.0/0"] }), undefined],
  ["has another node port", setUp({ privatePort: 1 }), "replace"],
  ["changes to the PROXY protocol", setUp({ protocol: "tcp-proxy" }), "replace"],
  ["changes from UDP", setUp({ protocol: "udp" }), "replace"],
  ["has a protocol that nobody knows", setUp({ protocol: "ssl" }), "replace"],
  ["is in another network", setUp({ networkId: "net-2" }), "replace"],
  ["is being deleted", setUp({ state: "Revoke" }), "replace"],
  [
    "has the name of the provider in Kubernetes",
    setUp({ name: `${LB_NAME}-80` }),
    { name: `${LB_NAME}-tcp-80` },
  ],
  ["is of version 1.x", setUp({ description: "" }), { description: DESCRIPTION }],
  ["balances by another algorithm", setUp({ algorithm: "leastconn" }), { algorithm: "roundrobin" }],
  ["must get a list", setUp({}, A), { cidrs: A }],
  ["must lose its list", setUp({ cidrs: A }), { cidrs: ["0.0.0.0/0"] }],
  ["must get a list before 4.22", setUp({}, A, 21), "replace"],
  ["has its list before 4.22", setUp({ cidrs: A }, A, 21), undefined],
];
for (const [what, { site, rule }, wanted] of CASES) {
  test(`a rule that ${what} is ${wanted === "replace" ? "replaced" : wanted ? "updated" : "left alone"}`, () => {
    expect(mustReplace(site, rule)).toBe(wanted === "replace");
    if (wanted === "replace") return;
    const steps = planUpdate(site, rule);
    expect(steps.map(({ change }) => JSON.stringify(change))).toEqual(
      wanted === undefined
        ? []
        : [JSON.stringify({ kind: "updateRule", ruleId: rule.id, ...wanted })],
    );
  });
}

test("a list that cannot be read is written", () => {
  const { site, rule } = setUp({}, A);
  const { cidrs: _, ...unreadable } = rule;
  expect(planUpdate(site, unreadable)).toHaveLength(1);
});

test("toCreation() says all that a rule needs, and a list only if it restricts somebody", () => {
  const { site } = setUp({}, A);
  const { change, turn } = toCreation(site);
  expect({ ...change, turn }).toEqual({
    kind: "createRule",
    name: `${LB_NAME}-tcp-80`,
    description: DESCRIPTION,
    addressId: site.address.id,
    networkId: "net-1",
    publicPort: 80,
    privatePort: 30_080,
    protocol: "tcp",
    algorithm: "roundrobin",
    cidrs: A,
    turn: "net-1",
  });
  expect("cidrs" in toCreation({ ...site, cidrs: undefined }).change).toBe(false);
});

test("toDeletion() deletes that rule", () => {
  const { site, rule } = setUp({});
  expect(toDeletion(site.scene, rule).change).toEqual({ kind: "deleteRule", ruleId: rule.id });
});
