import { expect, test } from "bun:test";
import {
  findGate,
  isGate,
} from "../../../../../lib/providers/cloudstack/load_balancers/clients/gate.ts";
import {
  planPort,
  type PortPlan,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/ports.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { Change } from "../../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";
import { createCloud, DESCRIPTION, KINDS, LB_NAME, toSpec } from "../cloud/services.ts";

const A = ["10.0.0.0/8"];

interface Options {
  readonly kind?: keyof typeof KINDS;
  readonly sources?: readonly string[];
  readonly isOwn?: boolean;
  readonly minor?: number;
}

/** Plans port tcp 80 on an address that `prepare` fills. */
function planOne(
  prepare: (cloud: CloudModel, addressId: string) => void,
  options: Options = {},
): PortPlan {
  const { kind = "firewall", sources, isOwn = true, minor = 22 } = options;
  const cloud = createCloud(kind);
  cloud.version = { major: 4, minor, patch: 0 };
  const network = KINDS[kind];
  const address = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  prepare(cloud, address.id);
  const spec = toSpec({ ...(sources && { sourceRanges: sources }) });
  const view = cloud.view();
  const gate = findGate(view, network);
  const { wanted } = toWanted(spec);
  const [port] = wanted?.ports ?? [];
  if (!isGate(gate) || wanted === undefined || port === undefined) throw new Error("not possible");
  const scene = toScene(view, spec);
  const { backends } = spec;
  return planPort(
    { scene, wanted, address, network, gate, backends, isOwn, isNeeded: () => true },
    port,
  );
}

function addRule(cloud: CloudModel, addressId: string, fields: object = {}): void {
  const base = {
    name: `${LB_NAME}-tcp-80`,
    description: DESCRIPTION,
    addressId,
    networkId: "net-1",
  };
  cloud.addRule({ ...base, ...fields });
}

const PLANS: readonly [string, PortPlan, readonly Change["kind"][]][] = [
  ["is made", planOne(() => {}), ["createRule"]],
  [
    "is opened before it gets backends",
    planOne((cloud, id) => addRule(cloud, id)),
    ["createFirewallRule", "addBackends"],
  ],
  [
    "is taken apart from the outside and made again",
    planOne((cloud, id) => {
      addRule(cloud, id, { protocol: "udp" });
      cloud.addFirewallRule({ addressId: id, protocol: "udp" });
    }),
    ["deleteFirewallRule", "deleteRule", "createRule"],
  ],
  [
    "loses its own list only after the firewall is right",
    planOne(
      (cloud, id) => {
        addRule(cloud, id, { cidrs: ["192.0.2.0/24"] });
        cloud.addFirewallRule({ addressId: id });
      },
      { sources: A },
    ),
    ["createFirewallRule", "deleteFirewallRule", "addBackends", "updateRule"],
  ],
  [
    "is made with the ACL item of its port as asked",
    planOne(
      (cloud) =>
        cloud.addAclItem({ listId: "list-1", reason: `Managed by Landfall for ${LB_NAME}` }),
      {
        kind: "tier",
        sources: A,
      },
    ),
    ["updateAclItem", "createRule"],
  ],
];
for (const [what, { keeping, steps, problems }, kinds] of PLANS) {
  test(`a port ${what}`, () => {
    expect([...keeping, ...steps].map(({ change }) => change.kind)).toEqual([...kinds]);
    expect(problems).toEqual([]);
  });
}

test("where nothing else restricts clients, a rule is made with its list", () => {
  const { steps } = planOne(() => {}, { kind: "open", sources: A });
  expect(steps.map(({ change }) => change.kind === "createRule" && change.cidrs)).toEqual([A]);
});

test("where others let in more clients, a rule is made with its list", () => {
  const range = (cloud: CloudModel, addressId: string): void =>
    void cloud.addFirewallRule({ addressId, startPort: 1, endPort: 100 });
  const { steps } = planOne(range, { sources: A });
  expect(steps.map(({ change }) => change.kind === "createRule" && change.cidrs)).toEqual([A]);
  const old = planOne(range, { sources: A, minor: 17 });
  expect(old.steps).toEqual([]);
  expect(old.problems).toMatchObject([{ reason: "SourceRangesNotPossible", isWaiting: true }]);
});

test("a port that a rule of somebody else has is left alone, and the rule is named", () => {
  const { steps, problems } = planOne((cloud, id) => addRule(cloud, id, { name: "theirs" }));
  expect(steps).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting: true }]);
  expect(problems[0]?.message).toContain("theirs (rule-002)");
});

test("a port that another Service of the cluster has is left alone, and the Service is named", () => {
  const { steps, problems } = planOne((cloud, id) => {
    const owner = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
    cloud.holders = [{ owner, isLeaving: false }];
    addRule(cloud, id, { name: "a9999999989ab4cde8f0123456789abc-tcp-80" });
  });
  expect(steps).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting: true }]);
  expect(problems[0]?.message).toBe(
    "Service shop/other uses port 80 of 192.0.2.1: use another port than tcp 80, or another address",
  );
});

test("nothing is made for a port whose firewall rule on the user's address is the user's", () => {
  const { steps, problems } = planOne(
    (cloud, addressId) => void cloud.addFirewallRule({ addressId }),
    { isOwn: false },
  );
  expect(steps).toEqual([]);
  expect(problems).toMatchObject([{ reason: "PortInUse", isWaiting: true }]);
});

test("a Service waits while the backends of a rule are not known", () => {
  const { problems } = planOne((cloud, id) => {
    addRule(cloud, id);
    cloud.members.clear();
  });
  expect(problems).toMatchObject([{ reason: "NotKnown", isWaiting: true }]);
});
