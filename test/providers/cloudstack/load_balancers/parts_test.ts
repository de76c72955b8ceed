import { expect, test } from "bun:test";
import type {
  LoadBalancerBackend,
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { plan } from "../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import { planKeeping } from "../../../../lib/providers/cloudstack/load_balancers/rule.ts";
import { toCurrent } from "../../../../lib/providers/cloudstack/load_balancers/current.ts";
import {
  type DesiredStickiness,
  toDesired,
} from "../../../../lib/providers/cloudstack/load_balancers/desired.ts";
import type { CloudModel } from "./cloud/cloud_model.ts";
import {
  annotate,
  converge,
  createCloud,
  HTTP,
  HTTPS,
  KINDS,
  LB_NAME,
  REASON,
  toBackend,
  toNetwork,
  toRecord,
  toSpec,
  serve,
} from "./cloud/services.ts";
import { planRelease } from "../../../../lib/providers/cloudstack/load_balancers/release.ts";
import {
  findUnreadable,
  findUnreadableAddresses,
} from "../../../../lib/providers/cloudstack/load_balancers/choose_address.ts";
import type {
  StickinessPolicy,
  Unreadable,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import {
  chooseNetwork,
  listBackends,
  planBackends,
} from "../../../../lib/providers/cloudstack/load_balancers/backends.ts";
import {
  checkStickiness,
  planStickiness,
} from "../../../../lib/providers/cloudstack/load_balancers/stickiness.ts";

/** The parts that the plan of a Service has. */
function list(cloud: CloudModel, spec: LoadBalancerSpec): readonly string[] {
  const { parts } = plan(cloud.observation(), spec);
  return parts.map((one) => `${one.kind} ${one.name}: ${one.wanted ?? "-"} / ${one.actual ?? "-"}`);
}

/** The parts of a Service after a change that was not applied yet, one a line. */
function show(kind: keyof typeof KINDS, change: Partial<LoadBalancerSpec>): readonly string[] {
  const cloud = createCloud(kind);
  const { ingress } = converge(cloud, toSpec({ sourceRanges: ["10.0.0.0/8"] }));
  return list(cloud, toSpec({ ingress, ...change }));
}

for (const kind of ["firewall", "tier", "open"] as const) {
  test(`the debug page shows what is wanted beside what is there, in a network of kind ${kind}`, () => {
    expect(show(kind, { ports: [HTTPS], backends: [toBackend(1)] })).toEqual([
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      "rule tcp 443: tcp to node port 30443, roundrobin / -",
      "clients tcp 443: 0.0.0.0/0 / -",
      "backends tcp 443: 1 / -",
      "rule tcp 80 on 192.0.2.10: - / tcp to node port 30080, roundrobin",
    ]);
    expect(show(kind, { backends: [toBackend(1)] }).slice(1)).toEqual([
      "rule tcp 80: tcp to node port 30080, roundrobin / tcp to node port 30080, roundrobin",
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 1 / 2",
    ]);
  });
}

const RULE = "tcp to node port 30080, roundrobin";

test.each<[string, Partial<LoadBalancerSpec>, readonly string[]]>([
  [
    "asks for something that CloudStack cannot do",
    { ports: [HTTP, { ...HTTP, name: "quic", protocol: "UDP" }] },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
      "rule udp 80: udp to node port 30080, roundrobin / -",
      "clients udp 80: 0.0.0.0/0 / -",
      "backends udp 80: 2 / -",
    ],
  ],
  [
    "names an address that cannot be used",
    { address: "one" },
    [
      "address one: one / -",
      `rule tcp 80: ${RULE} / -`,
      "clients tcp 80: 0.0.0.0/0 / -",
      "backends tcp 80: 2 / -",
      "address 192.0.2.10: - / 192.0.2.10",
      `rule tcp 80 on 192.0.2.10: - / ${RULE}`,
    ],
  ],
  [
    "has source ranges that nobody understands",
    { annotations: annotate({ "source-cidrs": "all" }) },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: ? / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
    ],
  ],
  [
    "waits for a job",
    {
      record: toRecord({
        job: { id: "01234567-89ab-4cde-8f01-000000000001", command: "createLoadBalancerRule" },
      }),
    },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
    ],
  ],
])(
  "the debug page shows what is wanted and what is there while a Service %s",
  (_, change, lines) => {
    expect(show("firewall", change)).toEqual([...lines]);
  },
);

/** A cloud with an address, and the rule of port 80 on it. */
function createWithRule(): { cloud: CloudModel; rule: ReturnType<CloudModel["addRule"]> } {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const name = `${LB_NAME}-tcp-80`;
  return { cloud, rule: cloud.addRule({ name, addressId, networkId: "net-1" }) };
}

test("the debug page shows what is wanted before there is anything, also where no gate lets clients in", () => {
  const cloud = createCloud("tierAllow");
  const waiting = toSpec({ ports: [{ ...HTTP, protocol: "SCTP" }, HTTPS], backends: [] });
  expect(list(cloud, waiting)).toEqual([
    "address new: a free one / -",
    "rule tcp 443: tcp to node port 30443, roundrobin / -",
    "clients tcp 443: 0.0.0.0/0 / -",
    "backends tcp 443: 0 / -",
  ]);
});

test("the debug page shows stickiness, wanted beside actual", () => {
  const cloud = createCloud();
  const sticky = annotate({
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "tablesize=200k,expire=30m",
  });
  const { ingress } = converge(cloud, toSpec({ annotations: sticky }));
  const find = (annotations: Record<string, string>): string | undefined =>
    list(cloud, toSpec({ ingress, annotations })).find((one) => one.startsWith("stickiness"));
  const policy = "SourceBased expire=30m tablesize=200k";
  expect(find(sticky)).toBe(`stickiness tcp 80: ${policy} / ${policy}`);
  expect(find({})).toBe(`stickiness tcp 80: - / ${policy}`);
  const other = annotate({ "stickiness-method-name": "SourceBased" });
  expect(find(other)).toBe(`stickiness tcp 80: SourceBased / ${policy}`);
  const wrong = annotate({ "stickiness-method-name": "AppCookie" });
  expect(find(wrong)).toBe(`stickiness tcp 80: ? / ${policy}`);
});

test("the overview counts the Nodes that can get traffic, and those that do, and has the address", () => {
  const cloud = createCloud();
  const backends = [1, 2, 3, 4].map((number) => toBackend(number));
  const before = plan(cloud.observation(), toSpec({ backends })).overview?.();
  expect(before).toEqual({ backends: ["node-1", "node-2", "node-3"], serving: 0 });
  const annotations = annotate({ hostname: "web.example.com" });
  const { ingress } = converge(cloud, toSpec({ backends: backends.slice(0, 2), annotations }));
  const spec = toSpec({ ingress, backends, annotations });
  expect(plan(cloud.observation(), spec).overview?.()).toEqual({
    address: "192.0.2.10",
    backends: ["node-1", "node-2", "node-3"],
    serving: 2,
  });
  expect(plan(cloud.observation(), { ...spec, ports: [HTTP, HTTPS] }).overview?.().serving).toBe(0);
  // The VM of another Node is still behind the rule.
  const others = { ...spec, backends: [toBackend(1), toBackend(3)] };
  expect(plan(cloud.observation(), others).overview?.().serving).toBe(1);
  const unknown = { ...cloud.observation(), members: new Map() };
  expect(plan(unknown, spec).overview?.()).not.toHaveProperty("serving");
});

const UDP = { protocol: "UDP", port: 53, nodePort: 30_053 } as const;
test.each<[string, Record<string, string>, object]>([
  ["the IP", {}, { ip: "192.0.2.10", ipMode: "VIP" }],
  ["the mode of a proxy", { "proxy-protocol": "true" }, { ip: "192.0.2.10", ipMode: "Proxy" }],
  [
    "a hostname alone",
    { hostname: "a.example", "proxy-protocol": "true" },
    { hostname: "a.example" },
  ],
])("the status shows %s", (_what, values, entry) => {
  const { ingress } = serve(toSpec({ ports: [UDP, HTTP], annotations: annotate(values) }));
  expect([...ingress]).toEqual([JSON.parse(JSON.stringify(entry))]);
});

function keep(
  who?: { readonly sources?: readonly string[] },
  port: LoadBalancerPort = { ...HTTP, protocol: "UDP" },
): readonly string[] {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({
    name: `${LB_NAME}-udp-80`,
    addressId,
    networkId: "net-1",
    privatePort: 1,
    protocol: "udp",
  });
  cloud.addFirewallRule({ addressId, protocol: "udp" });
  const spec = toSpec({ ports: [port], backends: [toBackend(1)] });
  const steps = planKeeping(toCurrent(cloud.observation(), spec), [rule], spec, who);
  return steps.map(({ change }) => change.kind);
}

test.each<[string, LoadBalancerPort]>([
  ["port", { ...HTTP, protocol: "UDP", port: 81 }],
  ["protocol", HTTP],
])(
  "rules that stay for now let no client in once the Service asks for another %s",
  (_what, port) => {
    for (const who of [{ sources: ["10.0.0.0/8"] }, {}]) {
      expect(keep(who, port)).toEqual(["delete", "addBackends"]);
    }
    expect(keep(undefined, port)).toEqual(["addBackends"]);
  },
);

const PROBLEM = { problem: "its port is no number" };
const UNREADABLE: readonly [Unreadable, boolean][] = [
  [{ kind: "rule", ...PROBLEM }, true],
  [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }, true],
  [{ kind: "rule", name: "theirs", addressId: "ip-9", ...PROBLEM }, false],
  [{ kind: "rule", name: "theirs", addressId: "ip-1", ...PROBLEM }, true],
  [{ kind: "firewallRule", ...PROBLEM }, true],
  [{ kind: "firewallRule", addressId: "ip-1", ...PROBLEM }, true],
  [{ kind: "firewallRule", addressId: "ip-9", ...PROBLEM }, false],
  [{ kind: "aclItem", name: REASON, ...PROBLEM }, true],
  [{ kind: "aclItem", name: "theirs", ...PROBLEM }, false],
  [{ kind: "network", name: "x", ...PROBLEM }, false],
];
for (const [unreadable, matters] of UNREADABLE) {
  test(`an unreadable ${JSON.stringify(unreadable)} ${matters ? "may" : "cannot"} be of the Service`, () => {
    const observation = { ...createCloud().observation(), unreadable: [unreadable] };
    const found = findUnreadable(toCurrent(observation, toSpec()), new Set(["ip-1"]));
    expect(found).toHaveLength(matters ? 1 : 0);
    for (const one of found)
      expect(one).toMatchObject({ reason: "UnreadableObject", isWaiting: true });
  });
}

test("a Service gets no new address while one cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "address", id: "x", name: "192.0.2.7", ...PROBLEM }];
  const observation = { ...createCloud().observation(), unreadable };
  const current = toCurrent(observation, toSpec());
  expect(findUnreadableAddresses(current)).toHaveLength(1);
  expect(findUnreadableAddresses(current, "192.0.2.7")).toHaveLength(1);
  expect(findUnreadableAddresses(current, "192.0.2.8")).toEqual([]);
  const { steps, problems, ingress } = plan(observation, toSpec());
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject" }]);
});

test("a release is not over while an object that may be of the Service cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }];
  const { steps, problems, ingress } = planRelease(
    { ...createCloud().observation(), unreadable },
    toSpec(),
  );
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject", isWaiting: true }]);
});

test("nothing is made for a Service while one of its rules cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }];
  const { steps, problems, ingress } = plan(
    { ...createCloud().observation(), unreadable },
    toSpec(),
  );
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject", isWaiting: true }]);
});

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
    const { cloud, rule } = createWithRule();
    setGone(cloud, "vm-3");
    cloud.members.set(rule.id, new Set(members.split(" ").filter((id) => id !== "")));
    const steps = planBackends(toCurrent(cloud.observation(), toSpec()), rule, backends);
    const texts = steps.flatMap(({ change }) => {
      if (change.kind === "addBackends") return change.vmIds.map((id) => `+${id}`);
      return change.kind === "removeBackends" ? change.vmIds.map((id) => `-${id}`) : [];
    });
    expect(texts.join(" ")).toBe(done);
  });
}

test("planBackends() changes nothing while the backends of a rule are not known", () => {
  const { cloud, rule } = createWithRule();
  cloud.members.delete(rule.id);
  expect(planBackends(toCurrent(cloud.observation(), toSpec()), rule, [toBackend(1)])).toEqual([]);
});

test("a VM may be behind a rule with any of its interfaces", () => {
  const cloud = createCloud();
  const nics = [
    { networkId: "net-2", ips: ["10.2.0.1"] },
    { networkId: "net-1", ips: ["10.1.0.1"] },
  ];
  cloud.vms.set("vm-1", { id: "vm-1", isGone: false, nics });
  const found = listBackends(cloud.observation(), "net-1", [toBackend(1, 2)]);
  expect(found.map(({ id }) => id)).toEqual(["vm-1"]);
});

test("chooseNetwork() takes the network with the InternalIP of most Nodes", () => {
  const cloud = createCloud();
  const observation = cloud.observation();
  expect(chooseNetwork(observation, [toBackend(4, 2), toBackend(1), toBackend(2)])).toBe("net-1");
  expect(chooseNetwork(observation, [toBackend(4, 2), toBackend(1)])).toBe("net-1");
  expect(chooseNetwork(observation, [toBackend(4, 2)])).toBe("net-2");
  expect(chooseNetwork(observation, [])).toBeUndefined();
  expect(chooseNetwork(observation, [UNKNOWN, NOT_SHOWN])).toBeUndefined();
  // No interface has this InternalIP.
  expect(chooseNetwork(observation, [toBackend(1, 7)])).toBe("net-1");
});

test("planBackends() removes the VM of an excluded Node, also while another Node's instance is not known", () => {
  const { cloud, rule } = createWithRule();
  cloud.members.set(rule.id, new Set(["vm-1", "vm-2", "vm-3"]));
  const backends = [toBackend(2), UNKNOWN];
  const spec = { ...toSpec(), backends, excludedInstanceIds: new Set(["vm-1", "vm-2"]) };
  const steps = planBackends(toCurrent(cloud.observation(), spec), rule, backends);
  expect(steps.map(({ change }) => change)).toEqual([
    { kind: "removeBackends", ruleId: rule.id, vmIds: ["vm-1"] },
  ]);
});
const WEB = { ...HTTP, appProtocol: "http" };
const SOURCE: DesiredStickiness = { method: "SourceBased", params: new Map([["expire", "30m"]]) };
const OURS = { description: "Managed by Landfall" };
const APACHE = { description: "Managed by the CloudStack Kubernetes Provider" };

const PLANS: readonly [
  string,
  DesiredStickiness | "refused" | undefined,
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
for (const [what, stickiness, existing, done] of PLANS) {
  test(`planStickiness() ${what}`, () => {
    const { cloud, rule } = createWithRule();
    for (const one of existing) cloud.addPolicy(rule.id, one);
    const [port] = toDesired(toSpec({ ports: [WEB] })).desired.ports;
    if (port === undefined) throw new Error("no port");
    const { steps, problems } = planStickiness(
      toCurrent(cloud.observation(), toSpec()),
      rule,
      port,
      stickiness,
    );
    const texts = steps.map(({ change }) => {
      if (change.kind === "createPolicy") return `+${change.method}`;
      return change.kind === "delete" ? `-${change.id}` : change.kind;
    });
    expect(texts.join(" ")).toBe(done);
    expect(problems).toEqual([]);
  });
}

test("a policy of somebody else is in the way, and stays", () => {
  const { cloud, rule } = createWithRule();
  cloud.addPolicy(rule.id, {});
  const [port] = toDesired(toSpec()).desired.ports;
  if (port === undefined) throw new Error("no port");
  const { steps, problems } = planStickiness(
    toCurrent(cloud.observation(), toSpec()),
    rule,
    port,
    SOURCE,
  );
  expect(steps).toEqual([]);
  expect(problems).toMatchObject([{ reason: "StickinessNotPossible", isWaiting: true }]);
});

test("a Service waits while policies are not known, but only if it asks for one", () => {
  const { cloud, rule } = createWithRule();
  cloud.policies.delete(rule.id);
  const [port] = toDesired(toSpec()).desired.ports;
  if (port === undefined) throw new Error("no port");
  const current = toCurrent(cloud.observation(), toSpec());
  expect(planStickiness(current, rule, port, undefined)).toEqual({ steps: [], problems: [] });
  expect(planStickiness(current, rule, port, SOURCE).problems).toMatchObject([
    { reason: "NotKnown" },
  ]);
});

const OFFERS: readonly [string, object, string, RegExp | undefined][] = [
  ["a method that the network offers", { ports: [WEB] }, "LbCookie", undefined],
  ["no port with HTTP", { ports: [HTTP] }, "LbCookie", /no TCP port has appProtocol http/],
  ["no port with TCP", { ports: [UDP] }, "SourceBased", /no TCP port/],
];
for (const [what, fields, method, message] of OFFERS) {
  test(`checkStickiness() with ${what}`, () => {
    const annotations = annotate({ "stickiness-method-name": method });
    const { desired, isPossible } = toDesired(toSpec({ ...fields, annotations }));
    if (!isPossible) throw new Error("not possible");
    const problems = checkStickiness(desired, KINDS.firewall);
    expect(problems).toHaveLength(message === undefined ? 0 : 1);
    if (message) expect(problems[0]?.message).toMatch(message);
  });
}

test("checkStickiness() asks for nothing that the network does not offer", () => {
  const annotations = annotate({
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "expire=30m",
  });
  const { desired, isPossible } = toDesired(toSpec({ annotations }));
  if (!isPossible) throw new Error("not possible");
  const { stickiness: _, ...none } = KINDS.firewall;
  const table = { isRequired: true };
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
    checkStickiness(desired, network).map(({ message }) => message),
  );
  expect(messages).toEqual([
    expect.stringContaining("does not offer SourceBased"),
    expect.stringContaining("does not offer SourceBased"),
    expect.stringContaining("has no parameter expire"),
    expect.stringContaining("needs the parameter tablesize"),
  ]);
});
