import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { plan } from "../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import { toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import type { Step } from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { CLUSTER, type CloudModel } from "./cloud/cloud_model.ts";
import {
  annotate,
  converge,
  createCloud,
  DESCRIPTION,
  HTTP,
  HTTPS,
  KINDS,
  LB_NAME,
  OWNER,
  REASON,
  toBackend,
  toNetwork,
  toRecord,
  toSpec,
  serve,
} from "./cloud/services.ts";

const VIP = [{ ip: "192.0.2.10", ipMode: "VIP" }] as const;
const A = ["10.0.0.0/8"];

function listRules(cloud: CloudModel): string[] {
  return [...cloud.rules.values()]
    .map(({ name, ip }) => `${name.slice(LB_NAME.length + 1)} on ${ip}`)
    .toSorted();
}

test("a new Service gets an address, rules, backends and a status", () => {
  const { done, ingress, plan: last } = serve(toSpec({ ports: [HTTP, HTTPS] }));
  expect(done).toEqual([
    "take an address for network net-1",
    "create rule tcp 80 on 192.0.2.10",
    "create firewall rule tcp 80 on 192.0.2.10",
    "add 2 backends to rule tcp 80 on 192.0.2.10",
    "create rule tcp 443 on 192.0.2.10",
    "create firewall rule tcp 443 on 192.0.2.10",
    "add 2 backends to rule tcp 443 on 192.0.2.10",
  ]);
  expect([ingress, last.problems]).toEqual([[...VIP], []]);
});

test("a step says in words which network it waits for", () => {
  const cloud = createCloud();
  const [step] = plan(cloud.observation(), toSpec({ ports: [HTTP] })).steps;
  expect(step).toMatchObject({ lock: "net-1", lockName: "network net-1" });
});

test("the status shows an address only when all of it works", () => {
  const cloud = createCloud();
  const shown: unknown[] = [];
  converge(cloud, toSpec({ ports: [HTTP, HTTPS] }), () =>
    shown.push(plan(cloud.observation(), toSpec({ ports: [HTTP, HTTPS] })).ingress),
  );
  expect(shown).toEqual([...Array<undefined>(6).fill(undefined), [...VIP]]);
});

const IMPOSSIBLE: readonly [string, Partial<LoadBalancerSpec>, ((cloud: CloudModel) => void)?][] = [
  ["SCTP", { ports: [HTTP, { protocol: "SCTP", port: 7, nodePort: 30_007 }] }],
  ["an empty list of sources", { annotations: annotate({ "source-cidrs": "" }) }],
  ["an address that cannot be used", { address: "::1" }],
  [
    "source ranges that nothing can keep",
    { sourceRanges: A },
    (cloud) => {
      cloud.version = { major: 4, minor: 17, patch: 0 };
      cloud.networks.set("net-1", KINDS.open);
    },
  ],
  [
    "source ranges, and nobody knows the version",
    { sourceRanges: A },
    (cloud) => {
      cloud.version = undefined;
      cloud.networks.set("net-1", KINDS.open);
    },
  ],
  [
    "a protocol that the network lacks",
    { ports: [{ ...HTTP, protocol: "UDP" }] },
    (cloud) => {
      cloud.networks.set("net-1", toNetwork({ id: "net-1", protocols: new Set(["tcp"]) }));
    },
  ],
  [
    "an algorithm that the network lacks",
    { hasClientIpAffinity: true },
    (cloud) => {
      cloud.networks.set("net-1", toNetwork({ id: "net-1", algorithms: new Set(["roundrobin"]) }));
    },
  ],
  [
    "a tier with default_deny",
    {},
    (cloud) => {
      cloud.networks.set("net-1", { ...KINDS.tier, aclListName: "default_deny" });
    },
  ],
];
for (const [what, fields, prepare] of IMPOSSIBLE) {
  test(`nothing is taken or made for a Service with ${what}`, () => {
    const cloud = createCloud();
    prepare?.(cloud);
    const { done, ingress, plan: last } = converge(cloud, toSpec(fields));
    expect([done, ingress]).toEqual([[], []]);
    expect(last.problems.filter((one) => one.isWaiting !== false)).toHaveLength(1);
  });

  test(`a Service that changes to ${what} keeps serving, and its backends are kept up to date`, () => {
    const { cloud, ingress } = serve(toSpec());
    prepare?.(cloud);
    const before = listRules(cloud);
    const outcome = converge(
      cloud,
      toSpec({ ...fields, ingress, backends: [toBackend(1), toBackend(3)] }),
    );
    expect([listRules(cloud), outcome.ingress]).toEqual([before, ingress]);
    expect([...cloud.members.values()].map((one) => [...one].toSorted())).toEqual([
      ["vm-1", "vm-3"],
    ]);
  });
}

test("where others let in more clients, only a list of the rule keeps them out, or nothing can", () => {
  for (const [minor, cidrs] of [
    [22, A],
    [17, undefined],
  ] as const) {
    const cloud = createCloud();
    cloud.version = { major: 4, minor, patch: 0 };
    const { ingress } = converge(cloud, toSpec());
    const [addressId = ""] = cloud.addresses.keys();
    cloud.addFirewallRule({ addressId, startPort: 1, endPort: 100 });
    const backends = [toBackend(1), toBackend(3)];
    const { plan: last } = converge(cloud, toSpec({ ingress, sourceRanges: A, backends }));
    const [rule] = cloud.rules.values();
    expect(rule?.cidrs?.join()).toBe(cidrs?.join() ?? "");
    const problem = { reason: "SourceRangesNotPossible", isWaiting: true };
    expect(last.problems).toMatchObject(cidrs === undefined ? [problem] : []);
    expect([...(cloud.members.get(rule?.id ?? "") ?? [])].toSorted()).toEqual(["vm-1", "vm-3"]);
  }
});

test("a refused stickiness keeps a new Service pending, with its address and rules", () => {
  const cloud = createCloud();
  const bad = annotate({ "stickiness-method-name": "AppCookie" });
  const first = converge(cloud, toSpec({ annotations: bad }));
  expect([listRules(cloud), first.ingress]).toEqual([["tcp-80 on 192.0.2.10"], []]);
  const second = converge(
    cloud,
    toSpec({ annotations: annotate({ "stickiness-method-name": "SourceBased" }) }),
  );
  expect([second.done, second.ingress]).toEqual([
    ["set stickiness SourceBased of rule tcp 80 on 192.0.2.10"],
    [...VIP],
  ]);
  const third = converge(cloud, toSpec({ annotations: bad, ingress: second.ingress }));
  expect([third.done, third.ingress]).toEqual([[], [...VIP]]);
  expect([...cloud.policies.values()].flat()).toHaveLength(1);
});

test("a hostname is shown instead of the IP, and removed again", () => {
  const { cloud, ingress } = serve(toSpec({ annotations: annotate({ hostname: "a.example" }) }));
  expect(ingress).toEqual([{ hostname: "a.example" }]);
  expect(converge(cloud, toSpec({ ingress })).ingress).toEqual([...VIP]);
});

test("another address is used when it is complete, and the old one goes when the status shows the new one", () => {
  const { cloud, ingress } = serve(toSpec());
  const moved = toSpec({ ingress, address: "192.0.2.12" });
  const held: string[] = [];
  for (;;) {
    const { steps } = plan(cloud.observation(), moved);
    if (steps[0] === undefined) break;
    held.push(steps[0].summary);
    cloud.apply(steps[0]);
  }
  // While the status shows the old address, it stays as it is.
  expect(held).toEqual([
    "take address 192.0.2.12 for network net-1",
    "create rule tcp 80 on 192.0.2.12",
    "create firewall rule tcp 80 on 192.0.2.12",
    "add 2 backends to rule tcp 80 on 192.0.2.12",
  ]);
  expect(converge(cloud, moved).done).toEqual([
    "delete firewall rule tcp 80 on 192.0.2.10",
    "delete rule tcp 80 on 192.0.2.10",
    "release address 192.0.2.10",
  ]);
});

test("while a move waits, the old address gets its Nodes, and keeps out who may no longer connect", () => {
  const { cloud, ingress } = serve(toSpec());
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.50", networkId: "net-1" });
  cloud.addRule({ name: "theirs", addressId, networkId: "net-1" });
  const { done, plan: last } = converge(
    cloud,
    toSpec({ ingress, address: "192.0.2.50", sourceRanges: A, backends: [toBackend(1)] }),
  );
  expect(last.problems).toMatchObject([{ reason: "PortInUse" }]);
  expect(done).toEqual([
    "create firewall rule tcp 80 on 192.0.2.10",
    "delete firewall rule tcp 80 on 192.0.2.10",
    "remove 1 backend from rule tcp 80 on 192.0.2.10",
  ]);
});

test("an address of the user stays when the Service moves away or no longer names it", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.50", networkId: "net-1" });
  const { ingress } = converge(cloud, toSpec({ address: "192.0.2.50" }));
  expect(converge(cloud, toSpec({ ingress }))).toMatchObject({
    done: [],
    ingress: [{ ip: "192.0.2.50" }],
  });
  converge(cloud, toSpec({ ingress, address: "192.0.2.11" }));
  expect(listRules(cloud)).toEqual(["tcp-80 on 192.0.2.11"]);
  expect([...cloud.addresses.values()].map(({ ip }) => ip)).toEqual(["192.0.2.50", "192.0.2.11"]);
});

const THEIRS: readonly [string, string, boolean, string][] = [
  [
    "the rule of somebody else",
    "theirs",
    false,
    "port 80 of 192.0.2.50 has the load-balancer rule theirs (rule-002), which is not of this Service: " +
      "delete it, or use another port than tcp 80",
  ],
  [
    "another Service of the cluster",
    "a9999999989ab4cde8f0123456789abc-tcp-80",
    true,
    "Service shop/other uses port 80 of 192.0.2.50: use another port than tcp 80, or another address",
  ],
];
for (const [what, name, isOfService, message] of THEIRS) {
  test(`a port that ${what} has is left alone, which a warning names; another port is used`, () => {
    const cloud = createCloud();
    const { id: addressId } = cloud.addAddress({ ip: "192.0.2.50", networkId: "net-1" });
    const owner = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
    if (isOfService) cloud.holders = [{ claim: toSpec({ owner }), isLeaving: false }];
    cloud.addRule({ name, addressId, networkId: "net-1" });
    const { plan: last, done } = converge(cloud, toSpec({ address: "192.0.2.50" }));
    expect(last.problems).toMatchObject([{ reason: "PortInUse", isWaiting: true, message }]);
    expect([last.ingress, done]).toEqual([undefined, []]);
    const { ingress } = converge(cloud, toSpec({ address: "192.0.2.50", ports: [HTTPS] }));
    expect(ingress).toMatchObject([{ ip: "192.0.2.50" }]);
  });
}

test("a rule that is being deleted is replaced", () => {
  const { cloud, ingress } = serve(toSpec());
  const [rule] = cloud.rules.values();
  if (rule === undefined) throw new Error("no rule");
  cloud.rules.set(rule.id, { ...rule, state: "Revoke" });
  expect(converge(cloud, toSpec({ ingress })).done).toEqual([
    "delete firewall rule tcp 80 on 192.0.2.10",
    "delete rule tcp 80 on 192.0.2.10",
    "create rule tcp 80 on 192.0.2.10",
    "create firewall rule tcp 80 on 192.0.2.10",
    "add 2 backends to rule tcp 80 on 192.0.2.10",
  ]);
});

test("a rule in another network than the first one is replaced", () => {
  const cloud = createCloud();
  const ports = [HTTP, HTTPS];
  const { ingress } = converge(cloud, toSpec({ ports }));
  const last = [...cloud.rules.values()].find(({ publicPort }) => publicPort === 443);
  if (last === undefined) throw new Error("no rule");
  cloud.rules.set(last.id, { ...last, networkId: "net-2" });
  const { done } = converge(cloud, toSpec({ ports, ingress }));
  expect(done).toContain("delete rule tcp 443 on 192.0.2.10");
  expect([...cloud.rules.values()].map(({ networkId }) => networkId)).toEqual(["net-1", "net-1"]);
});

for (const form of [`${LB_NAME}-tcp-80`, `${LB_NAME}-80`]) {
  test(`a rule ${form.slice(LB_NAME.length)} of an earlier provider is adopted without a cut, with its address`, () => {
    const cloud = createCloud();
    const { id: addressId } = cloud.addAddress({ ip: "192.0.2.60", networkId: "net-1" });
    const rule = cloud.addRule({ name: form, addressId, networkId: "net-1", cidrs: ["0.0.0.0/0"] });
    cloud.members.set(rule.id, new Set(["vm-1", "vm-2"]));
    cloud.addFirewallRule({ addressId });
    const { done } = converge(cloud, toSpec({ ingress: [{ ip: "192.0.2.60" }] }));
    expect(done).toEqual([
      "tag address 192.0.2.60",
      `update ${form.includes("tcp") ? "" : "name, "}description of rule tcp 80 on 192.0.2.60`,
    ]);
    expect(cloud.rules.get(rule.id)).toMatchObject({
      name: `${LB_NAME}-tcp-80`,
      description: DESCRIPTION,
    });
    expect(cloud.addresses.get(addressId)?.tags).toEqual(toTags(CLUSTER, OWNER));
  });
}

test("an ACL item of version 1.x is adopted before its rule is", () => {
  const cloud = createCloud("tier");
  const { id: addressId } = cloud.addAddress({
    ip: "192.0.2.60",
    vpcId: "vpc-1",
    networkId: "net-1",
  });
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  const { id } = cloud.addAclItem({ listId: "list-1" });
  const { done } = converge(cloud, toSpec({ ingress: [{ ip: "192.0.2.60" }], sourceRanges: A }));
  expect(done.slice(0, 4)).toEqual([
    "update ACL item tcp 80",
    "add 2 backends to rule tcp 80 on 192.0.2.60",
    "tag address 192.0.2.60",
    "update description, cidrs of rule tcp 80 on 192.0.2.60",
  ]);
  expect(cloud.aclItems.get("list-1")).toMatchObject([{ id, reason: REASON, cidrs: A }]);
});

test("a Service with rules on two addresses keeps one", () => {
  const { cloud, ingress } = serve(toSpec());
  const { id: addressId } = cloud.addAddress({
    ip: "192.0.2.80",
    networkId: "net-1",
    tags: toTags(CLUSTER, OWNER),
  });
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
  cloud.addRule({ name: `${LB_NAME}-tcp-443`, addressId, networkId: "net-1", publicPort: 443 });
  converge(cloud, toSpec({ ingress }));
  expect([listRules(cloud), cloud.addresses.size]).toEqual([["tcp-80 on 192.0.2.10"], 1]);
});

test("an address that was taken before a crash is tagged and used", () => {
  const cloud = createCloud();
  const networkId = "01234567-89ab-4cde-8f01-23456789abcd";
  cloud.networks.set(networkId, toNetwork({ id: networkId }));
  for (const number of [1, 2]) {
    const nics = [{ networkId, ips: [`10.1.0.${number}`] }];
    cloud.vms.set(`vm-${number}`, { id: `vm-${number}`, isGone: false, nics });
  }
  cloud.addAddress({ ip: "192.0.2.11", networkId });
  const address = { ip: "192.0.2.11", network: networkId, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address });
  const { done, ingress } = converge(cloud, toSpec({ record }));
  expect(done[0]).toBe("tag address 192.0.2.11");
  expect(ingress).toMatchObject([{ ip: "192.0.2.11" }]);
  // The same record on a Service that has its address: a copy, or left from a crash.
  expect(converge(cloud, toSpec({ record, ingress })).done).toEqual(["remove the record"]);
});

test("Nodes outside the network do not keep a Service waiting, unless all are", () => {
  const cloud = createCloud();
  const some = converge(cloud, toSpec({ backends: [toBackend(1), toBackend(2), toBackend(4, 2)] }));
  expect(some).toMatchObject({
    ingress: [...VIP],
    plan: {
      problems: [
        {
          reason: "NodesInOtherNetworks",
          message:
            '1 Node has no interface in the network "net-1" (net-1) and gets no traffic: node-4',
          isOnce: true,
        },
      ],
    },
  });
  const spec = toSpec({ ingress: some.ingress, backends: [toBackend(4, 2)] });
  const none = "of the load balancer: give the Nodes an interface there, or";
  const selector = "landfall.dev/load-balancer-node-selector";
  for (const [annotations, start, end] of [
    [{}, "no Node has", "make a new Service"],
    [{ [selector]: "a=b" }, `no Node that the annotation ${selector} selects has`, "select others"],
  ] as const) {
    const [problem, ...more] = converge(cloud, { ...spec, annotations }).plan.problems;
    expect([problem?.reason, problem?.isWaiting, more]).toEqual(["NodesInOtherNetworks", true, []]);
    expect(problem?.message).toStartWith(`${start} an interface in `);
    expect(problem?.message).toEndWith(`${none} ${end}`);
  }
});

test("a Service without Nodes keeps its rules and loses its backends", () => {
  const { cloud, ingress } = serve(toSpec());
  converge(cloud, toSpec({ ingress, backends: [] }));
  expect([...cloud.members.values()].map((one) => one.size)).toEqual([0]);
});

const DNS = { name: "dns", protocol: "UDP", port: 53, nodePort: 30_053 } as const;
const NEW_IP = "203.0.113.9";

/** What a Service changes to, together with narrower source ranges and other Nodes, and what is refused for ever. */
const REFUSED: readonly [
  string,
  Partial<LoadBalancerSpec>,
  RegExp,
  ((cloud: CloudModel) => void)?,
][] = [
  ["a new port", { ports: [DNS, HTTP] }, /create rule udp 53/],
  ["a change of a rule", { hasClientIpAffinity: true }, /update/],
  ["a new address", { address: NEW_IP }, /take/],
  [
    "a rule on a new address",
    { address: NEW_IP },
    /create rule/,
    (cloud) => {
      cloud.addAddress({ ip: NEW_IP, networkId: "net-1" });
    },
  ],
  ["SCTP", { ports: [HTTP, { protocol: "SCTP", port: 7, nodePort: 30_007 }] }, /never/],
];
for (const [what, fields, refused, prepare] of REFUSED) {
  test(`while ${what} is refused, the rules that are there lose clients and backends as asked`, () => {
    const { cloud, ingress } = serve(toSpec({ ports: [HTTP] }));
    prepare?.(cloud);
    const backends = [toBackend(1), toBackend(3)];
    const spec = toSpec({ ...fields, ingress, sourceRanges: A, backends });
    const find = (): Step | undefined => plan(cloud.observation(), spec).steps[0];
    let step = find();
    for (; step !== undefined && !refused.test(step.summary); step = find()) cloud.apply(step);
    expect([...cloud.firewallRules.values()].map(({ cidrs }) => cidrs)).toEqual([A]);
    expect([...cloud.members.values()].map((one) => [...one])).toEqual([["vm-1", "vm-3"]]);
  });
}

test("while a new port is refused, clients no longer reach a port that the Service gave up", () => {
  const { cloud, ingress } = serve(toSpec({ ports: [HTTP, HTTPS] }));
  const spec = toSpec({ ports: [DNS, HTTPS], ingress });
  const find = (): Step | undefined => plan(cloud.observation(), spec).steps[0];
  let step = find();
  for (; step !== undefined && !/create/.test(step.summary); step = find()) cloud.apply(step);
  expect([...cloud.firewallRules.values()].map(({ startPort }) => startPort)).toEqual([443]);
});

const ASKED_AT_MS = Date.UTC(2026, 0, 1);
const NETWORK = "01234567-89ab-4cde-8f01-0000000000aa";
const OTHER_NETWORK = "01234567-89ab-4cde-8f01-0000000000bb";

/** A Service that named no address, and then another one than the record says that Landfall asked for. */
function moveWhileAsked(
  isGiven: boolean,
  asked: { readonly network?: string } = {},
): { cloud: CloudModel; spec: LoadBalancerSpec } {
  const cloud = createCloud();
  cloud.nowMs = ASKED_AT_MS + 60_000;
  cloud.networks.clear();
  cloud.networks.set(NETWORK, toNetwork({ id: NETWORK }));
  for (const id of cloud.vms.keys()) {
    cloud.vms.set(id, { id, isGone: false, nics: [{ networkId: NETWORK, ips: [] }] });
  }
  if (isGiven) cloud.addAddress({ ip: "192.0.2.10", networkId: NETWORK });
  const at = "2026-01-01T00:00:00Z";
  const address = { ip: "192.0.2.10", network: NETWORK, at, free: true, ...asked };
  const record = toRecord({ address });
  return { cloud, spec: toSpec({ address: "192.0.2.11", record }) };
}

test("an address that the record proves is tagged before another one is taken", () => {
  const { cloud, spec } = moveWhileAsked(true);
  const { steps } = plan(cloud.observation(), spec);
  expect(steps.map(({ summary }) => summary)).toEqual([
    "tag address 192.0.2.10",
    `take address 192.0.2.11 for network ${NETWORK}`,
  ]);
  const { ingress } = converge(cloud, spec);
  expect([ingress, cloud.addresses.size]).toEqual([[{ ip: "192.0.2.11", ipMode: "VIP" }], 1]);
});

test.each([
  ["names another one", {}],
  ["is served in another network now", { network: OTHER_NETWORK }],
])("no address is taken while one may come, and the Service %s", (_what, asked) => {
  const { cloud, spec: named } = moveWhileAsked(false, asked);
  const { address: _named, ...unnamed } = named;
  const spec = "network" in asked ? unnamed : named;
  const first = plan(cloud.observation(), spec);
  expect(first.steps).toEqual([]);
  expect(first.problems).toMatchObject([{ reason: "NotKnown" }]);
  cloud.nowMs = ASKED_AT_MS + 12 * 60_000;
  expect(plan(cloud.observation(), spec).steps.map(({ change }) => change.kind)).toEqual([
    "takeAddress",
  ]);
});

test("the annotation of Leaseweb's provider names an address, and counts before the field", () => {
  const annotations = annotate({ address: "192.0.2.11" });
  const { ingress, done } = serve(toSpec({ annotations, address: "192.0.2.12" }));
  expect(done[0]).toBe("take address 192.0.2.11 for network net-1");
  expect(ingress).toMatchObject([{ ip: "192.0.2.11" }]);
  const { plan: wrong } = serve(toSpec({ annotations: annotate({ address: "web" }) }));
  expect(wrong.problems[0]?.message).toStartWith("annotation service.beta.kubernetes.io/");
});

const NOTE = Object.keys(annotate({ "ip-associated-by-controller": "" }))[0] ?? "";
/** What version 1.x of the Go provider released, and whether Landfall says so. */
const NOTES: readonly [string, Partial<LoadBalancerSpec>, boolean, Record<string, string>][] = [
  ["taken for the Service that names it", { address: "192.0.2.10" }, true, { [NOTE]: "true" }],
  ["taken for a Service that names none", {}, true, {}],
  [
    "that an annotation names, which it does not know",
    { annotations: annotate({ address: "192.0.2.10" }) },
    true,
    {},
  ],
  ["of the user", { address: "192.0.2.10" }, false, {}],
  [
    "of the user, whatever a user wrote",
    { address: "192.0.2.10", annotations: { [NOTE]: "true" } },
    false,
    {},
  ],
];
for (const [what, fields, isFree, note] of NOTES) {
  test(`the Apache provider is told whether it may release an address ${what}`, () => {
    const cloud = createCloud();
    if (!isFree) cloud.addAddress({ ip: "192.0.2.10", networkId: "net-1" });
    expect(converge(cloud, toSpec(fields)).plan.annotations).toEqual(note);
  });
}

test("a Service that moves to an address of the user no longer says that its address was taken for it", () => {
  const cloud = createCloud();
  const { ingress } = converge(cloud, toSpec({ address: "192.0.2.10" }));
  cloud.addAddress({ ip: "192.0.2.50", networkId: "net-1" });
  const notes: unknown[] = [];
  converge(cloud, toSpec({ address: "192.0.2.50", ingress }), () =>
    notes.push(plan(cloud.observation(), toSpec({ address: "192.0.2.50", ingress })).annotations),
  );
  // While the old address is there: as soon as the new one is shown.
  expect(notes).toContainEqual({ [NOTE]: undefined });
});
