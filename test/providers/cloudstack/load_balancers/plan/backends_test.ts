import { expect, test } from "bun:test";
import type { LoadBalancerBackend } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  checkBackends,
  chooseNetwork,
  listBackends,
  planBackends,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/backends.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";
import {
  annotate,
  createCloud,
  HTTP,
  HTTPS,
  KINDS,
  LB_NAME,
  toBackend,
  toNetwork,
  toSpec,
} from "../cloud/services.ts";
import {
  checkStickiness,
  isSticky,
  planStickiness,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/stickiness.ts";
import type { StickinessPolicy } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import type { StickinessWish } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/stickiness_wish.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";

const UNKNOWN: LoadBalancerBackend = { nodeName: "node-9", internalIps: [] };
const NOT_SHOWN = toBackend(9);

function setGone(cloud: CloudModel, id: string): void {
  const vm = cloud.vms.get(id);
  if (vm !== undefined) cloud.vms.set(id, { ...vm, isGone: true });
}

const MEMBERSHIPS: readonly [string, string, readonly LoadBalancerBackend[], string][] = [
  ["adds what is missing", "", [toBackend(2), toBackend(1)], "+vm-1 +vm-2"],
  ["changes nothing if all are there", "vm-1 vm-2", [toBackend(1), toBackend(2)], ""],
  ["adds before it removes", "vm-1", [toBackend(2)], "+vm-2 -vm-1"],
  ["removes all without Nodes", "vm-1 vm-2", [], "-vm-1 -vm-2"],
  ["removes none while a Node's instance is not known", "vm-1", [toBackend(2), UNKNOWN], "+vm-2"],
  ["removes none while a Node's VM is not shown", "vm-1", [toBackend(2), NOT_SHOWN], "+vm-2"],
  ["removes a VM that is gone in any case", "vm-1 vm-3", [toBackend(2), UNKNOWN], "+vm-2 -vm-3"],
  ["removes a VM that nobody knows", "vm-8", [toBackend(1)], "+vm-1 -vm-8"],
  ["does not add a VM that is gone", "", [toBackend(3)], ""],
  ["does not add a VM of another network", "", [toBackend(1), toBackend(4, 2)], "+vm-1"],
];
for (const [what, members, backends, done] of MEMBERSHIPS) {
  test(`planBackends() ${what}`, () => {
    const cloud = createCloud();
    setGone(cloud, "vm-3");
    const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
    const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
    cloud.members.set(rule.id, new Set(members.split(" ").filter((id) => id !== "")));
    const steps = planBackends(toScene(cloud.view(), toSpec()), rule, backends);
    const texts = steps.flatMap(({ change }) => {
      if (change.kind === "addBackends") return change.vmIds.map((id) => `+${id}`);
      return change.kind === "removeBackends" ? change.vmIds.map((id) => `-${id}`) : [];
    });
    expect(texts.join(" ")).toBe(done);
  });
}

test("planBackends() changes nothing while the backends of a rule are not known", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  cloud.members.delete(rule.id);
  expect(planBackends(toScene(cloud.view(), toSpec()), rule, [toBackend(1)])).toEqual([]);
});

test("a VM may be behind a rule with any of its interfaces", () => {
  const cloud = createCloud();
  const nics = [
    { networkId: "net-2", ips: ["10.2.0.1"] },
    { networkId: "net-1", ips: ["10.1.0.1"] },
  ];
  cloud.vms.set("vm-1", { id: "vm-1", isGone: false, nics });
  const found = listBackends(cloud.view(), "net-1", [toBackend(1, 2)]);
  expect(found.map(({ id }) => id)).toEqual(["vm-1"]);
});

test("chooseNetwork() takes the network with the InternalIP of most Nodes", () => {
  const cloud = createCloud();
  const view = cloud.view();
  expect(chooseNetwork(view, [toBackend(4, 2), toBackend(1), toBackend(2)])).toBe("net-1");
  expect(chooseNetwork(view, [toBackend(4, 2), toBackend(1)])).toBe("net-1");
  expect(chooseNetwork(view, [toBackend(4, 2)])).toBe("net-2");
  expect(chooseNetwork(view, [])).toBeUndefined();
  expect(chooseNetwork(view, [UNKNOWN, NOT_SHOWN])).toBeUndefined();
  // No interface has this InternalIP.
  expect(chooseNetwork(view, [toBackend(1, 7)])).toBe("net-1");
});

test("checkBackends() tells Nodes outside the network, and waits if all are", () => {
  const view = createCloud().view();
  const network = toNetwork({ id: "net-1" });
  expect(checkBackends(view, network, [toBackend(1)])).toEqual([]);
  expect(checkBackends(view, network, [])).toEqual([]);
  expect(checkBackends(view, network, [UNKNOWN])).toEqual([]);
  const some = checkBackends(view, network, [toBackend(1), toBackend(4, 2)]);
  expect(some).toMatchObject([{ reason: "NodesInOtherNetworks", isWaiting: false }]);
  expect(some[0]?.message).toContain("node-4");
  const all = checkBackends(view, network, [toBackend(4, 2), UNKNOWN]);
  expect(all).toMatchObject([{ reason: "NodesInOtherNetworks", isWaiting: true }]);
});

test("planBackends() removes the VM of an excluded Node, also while another Node's instance is not known", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  cloud.members.set(rule.id, new Set(["vm-1", "vm-2", "vm-3"]));
  const backends = [toBackend(2), UNKNOWN];
  const spec = { ...toSpec(), backends, excludedInstanceIds: new Set(["vm-1", "vm-2"]) };
  const steps = planBackends(toScene(cloud.view(), spec), rule, backends);
  expect(steps.map(({ change }) => change)).toEqual([
    { kind: "removeBackends", ruleId: rule.id, vmIds: ["vm-1"] },
  ]);
});

const UDP = { protocol: "UDP", port: 53, nodePort: 30_053 } as const;
const WEB = { ...HTTP, appProtocol: "http" };
const SOURCE: StickinessWish = { method: "SourceBased", params: new Map([["expire", "30m"]]) };
const OURS = { description: "Managed by Landfall" };
const APACHE = { description: "Managed by the CloudStack Kubernetes Provider" };

const PLANS: readonly [
  string,
  StickinessWish | "refused" | undefined,
  readonly Partial<StickinessPolicy>[],
  string,
][] = [
  ["makes a policy", SOURCE, [], "+SourceBased"],
  ["keeps one that is the same", SOURCE, [{ ...OURS, params: SOURCE.params }], ""],
  ["keeps one of the Go provider", SOURCE, [{ ...APACHE, params: SOURCE.params }], ""],
  ["replaces one with other parameters in one step", SOURCE, [OURS], "+SourceBased"],
  [
    "replaces one of another method in one step",
    SOURCE,
    [{ ...OURS, method: "LbCookie", params: SOURCE.params }],
    "+SourceBased",
  ],
  ["removes one of two before it makes another", SOURCE, [OURS, OURS], "-policy-004 +SourceBased"],
  [
    "removes the other one of two",
    SOURCE,
    [OURS, { ...OURS, params: SOURCE.params }],
    "-policy-003",
  ],
  ["removes what the Service does not ask for", undefined, [OURS], "-policy-003"],
  ["keeps the old one if the new one is refused", "refused", [OURS], ""],
  ["leaves one of somebody else", undefined, [{}], ""],
  [
    "leaves one of somebody else with a description",
    undefined,
    [{ description: "Managed by hand" }],
    "",
  ],
];
for (const [what, wish, existing, done] of PLANS) {
  test(`planStickiness() ${what}`, () => {
    const cloud = createCloud();
    const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
    const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
    for (const one of existing) cloud.addPolicy(rule.id, one);
    const [port] = toWanted(toSpec({ ports: [WEB] })).wanted?.ports ?? [];
    if (port === undefined) throw new Error("no port");
    const { steps, problems } = planStickiness(toScene(cloud.view(), toSpec()), rule, port, wish);
    const texts = steps.map(({ change }) => {
      if (change.kind === "createPolicy") return `+${change.method}`;
      return change.kind === "deletePolicy" ? `-${change.policyId}` : change.kind;
    });
    expect(texts.join(" ")).toBe(done);
    expect(problems).toEqual([]);
  });
}

test("a policy of somebody else is in the way, and stays", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  cloud.addPolicy(rule.id, {});
  const [port] = toWanted(toSpec()).wanted?.ports ?? [];
  if (port === undefined) throw new Error("no port");
  const { steps, problems } = planStickiness(toScene(cloud.view(), toSpec()), rule, port, SOURCE);
  expect(steps).toEqual([]);
  expect(problems).toMatchObject([{ reason: "StickinessNotPossible", isWaiting: true }]);
});

test("a Service waits while policies are not known, but only if it asks for one", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  cloud.policies.delete(rule.id);
  const [port] = toWanted(toSpec()).wanted?.ports ?? [];
  if (port === undefined) throw new Error("no port");
  const scene = toScene(cloud.view(), toSpec());
  expect(planStickiness(scene, rule, port, undefined)).toEqual({ steps: [], problems: [] });
  expect(planStickiness(scene, rule, port, SOURCE).problems).toMatchObject([
    { reason: "NotKnown" },
  ]);
});

test("cookies are for HTTP, and sources for TCP", () => {
  const ports = toWanted(toSpec({ ports: [WEB, HTTPS, UDP] })).wanted?.ports ?? [];
  const cookie: StickinessWish = { method: "LbCookie", params: new Map() };
  expect(ports.map((port) => isSticky(cookie, port))).toEqual([true, false, false]);
  expect(ports.map((port) => isSticky(SOURCE, port))).toEqual([true, true, false]);
});

const OFFERS: readonly [string, object, string, RegExp | undefined][] = [
  ["a method that the network offers", { ports: [WEB] }, "LbCookie", undefined],
  ["no port with HTTP", { ports: [HTTP] }, "LbCookie", /no TCP port has appProtocol http/],
  ["no port with TCP", { ports: [UDP] }, "SourceBased", /no TCP port/],
];
for (const [what, fields, method, message] of OFFERS) {
  test(`checkStickiness() with ${what}`, () => {
    const annotations = annotate({ "stickiness-method-name": method });
    const { wanted } = toWanted(toSpec({ ...fields, annotations }));
    if (wanted === undefined) throw new Error("not wanted");
    const problems = checkStickiness(wanted, KINDS.firewall);
    expect(problems).toHaveLength(message === undefined ? 0 : 1);
    if (message) expect(problems[0]?.message).toMatch(message);
  });
}

test("checkStickiness() asks for nothing that the network does not offer", () => {
  const annotations = annotate({
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "expire=30m",
  });
  const { wanted } = toWanted(toSpec({ annotations }));
  if (wanted === undefined) throw new Error("not wanted");
  const { stickiness: _, ...none } = KINDS.firewall;
  const table = { isRequired: true, isFlag: false };
  const networks = [
    none,
    toNetwork({ id: "net-1", stickiness: [] }),
    toNetwork({ id: "net-1", stickiness: [{ name: "SourceBased", params: new Map() }] }),
    toNetwork({
      id: "net-1",
      stickiness: [
        {
          name: "SourceBased",
          params: new Map([
            ["expire", table],
            ["tablesize", table],
          ]),
        },
      ],
    }),
  ];
  const messages = networks.flatMap((network) =>
    checkStickiness(wanted, network).map(({ message }) => message),
  );
  expect(messages).toEqual([
    expect.stringContaining("does not offer SourceBased"),
    expect.stringContaining("does not offer SourceBased"),
    expect.stringContaining("has no parameter expire"),
    expect.stringContaining("needs the parameter tablesize"),
  ]);
});
