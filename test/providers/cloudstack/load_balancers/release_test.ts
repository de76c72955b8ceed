import { expect, test } from "bun:test";
import type {
  LoadBalancerClaim,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  planAddressRemoval,
  planRelease,
  toAwaiting,
  withItems,
} from "../../../../lib/providers/cloudstack/load_balancers/release.ts";
import { listAddresses } from "../../../../lib/providers/cloudstack/load_balancers/ownership.ts";
import { plan } from "../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import { toCurrent } from "../../../../lib/providers/cloudstack/load_balancers/current.ts";
import { toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
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
  release,
  toRecord,
  toSpec,
  serve,
} from "./cloud/services.ts";

const OURS = toTags(CLUSTER, OWNER);
const LEFT = "192.0.2.60";
const JOB = "01234567-89ab-4cde-8f01-000000000001";
const JOB_RECORD = toRecord({ job: { id: JOB, command: "associateIpAddress" } });

for (const [kind] of Object.entries(KINDS)) {
  test(`a release leaves nothing of a Service in a network of kind ${kind}`, () => {
    const name =
      Object.keys(KINDS).find((one): one is keyof typeof KINDS => one === kind) ?? "open";
    const cloud = createCloud(name);
    const { ingress } = converge(cloud, toSpec({ ports: [HTTP, HTTPS] }));
    const outcome = release(cloud, toSpec({ ingress }));
    expect(outcome).toMatchObject({ ingress: [], plan: { problems: [] } });
    expect([cloud.addresses.size, cloud.rules.size, cloud.firewallRules.size]).toEqual([0, 0, 0]);
    expect([...cloud.aclItems.values()].flat()).toEqual([]);
    expect(cloud.free).toHaveLength(3);
  });
}

test.each([
  ["firewall", "delete firewall rule tcp 80 on 192.0.2.10"],
  ["tier", "delete ACL item tcp 80"],
] as const)("everything goes before the address, and first what lets clients in: %s", (...row) => {
  const [kind, first] = row;
  const cloud = createCloud(kind);
  const { ingress } = converge(cloud, toSpec());
  expect(release(cloud, toSpec({ ingress })).done).toEqual([
    first,
    "delete rule tcp 80 on 192.0.2.10",
    "release address 192.0.2.10",
  ]);
});

test("an address of the user stays, with what others have on it", () => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.50", networkId: "net-1" });
  cloud.addRule({ name: "theirs", addressId, networkId: "net-1", publicPort: 22 });
  cloud.addFirewallRule({ addressId, startPort: 22, endPort: 22 });
  const spec = toSpec({ address: "192.0.2.50" });
  const { ingress } = converge(cloud, spec);
  const { plan } = release(cloud, { ...spec, ingress });
  expect(plan.problems).toEqual([]);
  expect([cloud.addresses.size, cloud.rules.size, cloud.firewallRules.size]).toEqual([1, 1, 1]);
});

const KEPT: readonly [string, (cloud: CloudModel, addressId: string) => void, string][] = [
  [
    "a rule of somebody",
    (cloud, addressId) =>
      cloud.addRule({ name: "theirs", addressId, networkId: "net-1", publicPort: 22 }),
    "load-balancer rule theirs",
  ],
  [
    "a firewall rule of somebody",
    (cloud, addressId) => cloud.addFirewallRule({ addressId, startPort: 22, endPort: 22 }),
    "firewall rule",
  ],
  [
    "a port forwarding",
    (cloud, id) => {
      const address = cloud.addresses.get(id);
      if (address) cloud.addresses.set(id, { ...address, usedBy: "1 port forwarding" });
    },
    "1 port forwarding",
  ],
];
for (const [what, use, message] of KEPT) {
  test(`an address of the Service stays if ${what} is on it, and the Service can go`, () => {
    const { cloud, ingress } = serve(toSpec());
    for (const id of cloud.addresses.keys()) use(cloud, id);
    const { plan } = release(cloud, toSpec({ ingress }));
    expect(plan).toMatchObject({
      ingress: [],
      problems: [{ reason: "AddressKept", isWaiting: false }],
    });
    expect(plan.problems[0]?.message).toContain(message);
    expect(cloud.addresses.size).toBe(1);
  });
}

const OTHER = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
const OTHER_RULE = "a9999999989ab4cde8f0123456789abc-tcp-8443";
const SHARED = "192.0.2.10";

/** The Service on an address of another one. */
function share(claim: Partial<LoadBalancerSpec> = {}): CloudModel {
  const cloud = createCloud();
  cloud.holders = [{ claim: toSpec({ owner: OTHER }), isLeaving: false }];
  const tags = toTags(CLUSTER, OTHER);
  cloud.free.shift();
  const { id: addressId } = cloud.addAddress({ ip: SHARED, networkId: "net-1", tags });
  cloud.addRule({ name: OTHER_RULE, addressId, networkId: "net-1", publicPort: 8_443 });
  cloud.addFirewallRule({ addressId, startPort: 8_443, endPort: 8_443 });
  converge(cloud, toSpec({ address: SHARED, ...claim }));
  return cloud;
}

/** Deletes the other Service. @param isGone Whether Kubernetes does not have it any more */
function dropOther(cloud: CloudModel, isGone = true): void {
  for (const { id, name } of cloud.rules.values()) if (name === OTHER_RULE) cloud.removeRule(id);
  for (const { id, startPort } of cloud.firewallRules.values()) {
    if (startPort === 8_443) cloud.firewallRules.delete(id);
  }
  cloud.holders = isGone ? [] : [{ claim: toSpec({ owner: OTHER }), isLeaving: true }];
}

const SHARING: readonly [string, Partial<LoadBalancerSpec>][] = [
  ["that it names", { address: SHARED }],
  ["that it named", {}],
  ["that it named, with a hostname", { annotations: annotate({ hostname: "web.example.com" }) }],
];
for (const [what, claim] of SHARING) {
  test(`a shared address ${what} goes with the last Service`, () => {
    for (const isGone of [true, false]) {
      const cloud = share();
      dropOther(cloud, isGone);
      const { ingress, record } = converge(cloud, toSpec(claim));
      const kept = record === undefined ? {} : { record };
      const { plan } = release(cloud, toSpec({ ...claim, ingress, ...kept }));
      expect(plan).toMatchObject({ ingress: [], problems: [] });
      expect([cloud.addresses.size, cloud.rules.size]).toEqual([0, 0]);
    }
  });

  test(`a shared address ${what} stays with the other Service`, () => {
    const cloud = share();
    const { ingress } = converge(cloud, toSpec(claim));
    const { plan } = release(cloud, toSpec({ ...claim, ingress }));
    expect(plan).toMatchObject({ ingress: [], problems: [] });
    expect([...cloud.rules.values()].map(({ name }) => name)).toEqual([OTHER_RULE]);
  });
}

test("of two Services that go at the same time, the last one releases their address", () => {
  const cloud = share();
  cloud.holders = [{ claim: toSpec({ owner: OTHER }), isLeaving: true }];
  const claim = toSpec({ address: SHARED });
  const { plan } = release(cloud, claim);
  expect(plan.problems.map(({ message }) => message)).toEqual([
    "public IP 192.0.2.10 stays, because Service shop/other uses it; " +
      "Landfall releases it with the last Service that uses it",
  ]);
  dropOther(cloud, false);
  release(cloud, claim);
  expect(cloud.addresses.size).toBe(0);
});

test("a Service that leaves a shared address releases it if it is the last one", () => {
  for (const isLast of [true, false]) {
    const cloud = share();
    if (isLast) dropOther(cloud);
    const { done } = converge(
      cloud,
      toSpec({ address: "192.0.2.11", ingress: [{ ip: SHARED, ipMode: "VIP" }] }),
    );
    expect([...cloud.addresses.values()].map(({ ip }) => ip)).toEqual(
      isLast ? ["192.0.2.11"] : [SHARED, "192.0.2.11"],
    );
    // What proves that it used the address must outlive its rules.
    const [named, deleted] = [
      `name address ${SHARED} in the record`,
      `delete rule tcp 80 on ${SHARED}`,
    ];
    expect(done.indexOf(named)).toBeLessThan(done.indexOf(deleted));
    expect(done.includes(named)).toBe(true);
  }
});

test("an inherited address on which somebody has a rule stays, and people release it", () => {
  const cloud = share();
  dropOther(cloud);
  for (const { id: addressId } of cloud.addresses.values()) {
    cloud.addRule({ name: "theirs", addressId, networkId: "net-1", publicPort: 22 });
  }
  const { plan } = release(cloud, toSpec({ address: SHARED }));
  expect(plan.problems).toMatchObject([{ reason: "AddressKept", isWaiting: false }]);
  expect(plan.problems[0]?.message).toMatch(
    /^public IP 192\.0\.2\.10 was taken for a Service that is gone and stays, .*; release it by hand/,
  );
  expect(cloud.addresses.size).toBe(1);
});

test("an address whose rules somebody deleted is released, with the firewall rules that are left", () => {
  const { cloud, ingress } = serve(toSpec());
  for (const id of cloud.rules.keys()) cloud.removeRule(id);
  release(cloud, toSpec({ ingress }));
  expect([cloud.addresses.size, cloud.firewallRules.size]).toEqual([0, 0]);
});

const TAKEN = { "ip-associated-by-controller": "true" };
test.each<
  [string, Partial<LoadBalancerClaim>, string | undefined, "goes" | "stays" | "is doubtful"]
>([
  ["that it does not name", {}, undefined, "goes"],
  ["that it does not name, with an empty field", { address: "" }, "", "goes"],
  ["that it names", { address: LEFT }, "", "stays"],
  ["taken for it", { address: LEFT, annotations: annotate(TAKEN) }, "", "goes"],
  [
    "when it names another one",
    { address: "192.0.2.61", annotations: annotate(TAKEN) },
    "",
    "is doubtful",
  ],
  ["that Leaseweb's annotation names", { annotations: annotate({ address: LEFT }) }, "", "goes"],
  ["that both name", { address: LEFT, annotations: annotate({ address: LEFT }) }, "", "stays"],
  [
    "when Leaseweb's names another",
    { annotations: annotate({ address: "192.0.2.9" }) },
    "",
    "is doubtful",
  ],
  ["whose rule is of Landfall", {}, DESCRIPTION, "stays"],
  ["whose rule has a description of somebody", {}, "mine", "stays"],
])(
  "an address with a rule of the Service %s: what version 1.x took goes, tagged first",
  (...row) => {
    const [, claim, description, then] = row;
    const cloud = createCloud();
    const { id: addressId } = cloud.addAddress({ ip: LEFT, networkId: "net-1" });
    const place = { name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" };
    cloud.addRule({ ...place, ...(description !== undefined && { description }) });
    cloud.addFirewallRule({ addressId });
    const { problems } = planRelease(cloud.observation(), toSpec(claim));
    expect(problems.map(({ reason }) => reason)).toEqual(
      then === "is doubtful" ? ["AddressNotOurs"] : [],
    );
    const { done, plan } = release(cloud, toSpec(claim));
    expect(cloud.addresses.size).toBe(then === "goes" ? 0 : 1);
    expect(done[0] === `tag address ${LEFT}`).toBe(then === "goes");
    expect([cloud.rules.size, cloud.firewallRules.size]).toEqual([0, 0]);
    expect([plan.ingress, plan.problems]).toEqual([[], []]);
  },
);

test("the annotation of version 1.x alone proves nothing", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: LEFT, networkId: "net-1" });
  expect(release(cloud, toSpec({ address: LEFT, annotations: annotate(TAKEN) })).done).toEqual([]);
});

/** A Service whose address stays, and what it leaves. */
function keep(
  cloud: CloudModel,
  fields: Partial<LoadBalancerClaim> = {},
): ReturnType<typeof release> {
  const claim = toSpec({ annotations: { "landfall.dev/keep-address": "true" }, ...fields });
  const { ingress } = converge(cloud, claim);
  return release(cloud, { ...claim, ingress });
}

test.each<[string, Record<string, string>]>([
  ["as it asks", { "landfall.dev/keep-address": "true" }],
  ["as it asks Leaseweb's provider", annotate({ "keep-ip": "true" })],
  ["if it is not understood", { "landfall.dev/keep-address": "yes" }],
])("the address of a Service stays %s, and is tagged before its rules go", (_what, annotations) => {
  const cloud = createCloud();
  expect(keep(cloud, { annotations }).done).toEqual([
    "tag address 192.0.2.10 as kept",
    "delete firewall rule tcp 80 on 192.0.2.10",
    "delete rule tcp 80 on 192.0.2.10",
  ]);
  const [address] = cloud.addresses.values();
  expect(address?.tags.get("landfall.dev/kept-for")).toBe("shop");
});

test("a kept address is taken again by a Service of the namespace that names it, and never released", () => {
  const cloud = createCloud();
  keep(cloud);
  cloud.holders = [];
  const owner = { namespace: "shop", name: "next", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
  const next = toSpec({ owner, address: "192.0.2.10" });
  const { ingress, plan } = converge(cloud, next);
  expect([ingress, plan.problems]).toMatchObject([[{ ip: "192.0.2.10" }], []]);
  const { done, plan: last } = release(cloud, { ...next, ingress });
  expect([cloud.rules.size, cloud.firewallRules.size, cloud.addresses.size]).toEqual([0, 0, 1]);
  expect([done.length, last.ingress]).toEqual([2, []]);
});

test("a kept address is not for a Service of another namespace, whatever that one writes", () => {
  const cloud = createCloud();
  keep(cloud);
  cloud.holders = [];
  const owner = { namespace: "web", name: "web", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
  const annotations = { "landfall.dev/keep-address": "true" };
  const thief = toSpec({ owner, address: "192.0.2.10", annotations });
  const { done, plan } = converge(cloud, thief);
  expect([done, plan.problems]).toMatchObject([[], [{ reason: "AddressNotUsable" }]]);
  expect(release(cloud, thief).done).toEqual([]);
});

test("a namespace keeps at most 20 addresses that nothing uses", () => {
  for (const [idle, isFull] of [
    [19, false],
    [20, true],
  ] as const) {
    const cloud = createCloud();
    for (let at = 0; at < idle; at += 1) {
      const tags = new Map([...toTags(CLUSTER, OTHER), ["landfall.dev/kept-for", "shop"]]);
      cloud.addAddress({ ip: `198.51.100.${at}`, networkId: "net-1", tags });
    }
    const { done, plan } = keep(cloud);
    const tagged = done.includes("tag address 192.0.2.10 as kept");
    expect(plan.problems.map(({ message }) => message)).toEqual(
      isFull
        ? [
            'public IP 192.0.2.10 cannot be kept: namespace "shop" already keeps 20 addresses that no Service uses; ' +
              "release one of those that landfall services --kept lists, or remove the annotation " +
              "landfall.dev/keep-address",
          ]
        : [],
    );
    // Its rules stay, too: the Service waits.
    expect([tagged, cloud.rules.size, cloud.addresses.size]).toEqual([
      !isFull,
      isFull ? 1 : 0,
      idle + 1,
    ]);
  }
});

test("a Service does not keep what was taken for one of another namespace", () => {
  const cloud = share();
  const annotations = { "landfall.dev/keep-address": "true" };
  const owner = { ...toSpec().owner, namespace: "web" };
  const claim = toSpec({ owner, address: SHARED, annotations });
  const { ingress } = converge(cloud, claim);
  dropOther(cloud);
  release(cloud, { ...claim, ingress });
  expect(cloud.addresses.size).toBe(0);
});

test("a release after a crash finds the address that was just taken", () => {
  const cloud = createCloud();
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  cloud.addAddress({ ip: "192.0.2.10", networkId: network });
  const address = { ip: "192.0.2.10", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address });
  expect(release(cloud, toSpec({ record })).done).toEqual([
    "tag address 192.0.2.10",
    "release address 192.0.2.10",
  ]);
  expect(cloud.addresses.size).toBe(0);
});

test("a release keeps an address of a record that Landfall did not sign, and says so without advice", () => {
  const cloud = createCloud();
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  cloud.addAddress({ ip: "192.0.2.10", networkId: network });
  const address = { ip: "192.0.2.10", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = JSON.stringify({ v: 1, uid: OWNER.uid, address });
  const { plan, done } = release(cloud, toSpec({ record }));
  expect({ done, problems: plan.problems, ingress: plan.ingress }).toEqual({
    done: [],
    problems: [
      {
        reason: "AddressNotOurs",
        message:
          "public IP 192.0.2.10 stays: the record on the Service names it, but is not signed with the keys in use",
        isWaiting: false,
      },
    ],
    ingress: [],
  });
});

test("a release keeps an address that the record names and nothing proves, and says so", () => {
  const cloud = createCloud();
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const { id } = cloud.addAddress({ ip: "192.0.2.10", networkId: network });
  cloud.allocatedBy = new Map([[id, "others"]]);
  const address = { ip: "192.0.2.10", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address });
  const { plan } = release(cloud, toSpec({ record }));
  expect(plan).toMatchObject({
    steps: [],
    ingress: [],
    problems: [{ reason: "AddressNotOurs", isWaiting: false }],
  });
  expect(cloud.addresses.size).toBe(1);
});

test("a job that still runs is waited for, without a lock", () => {
  const current = toCurrent(createCloud().observation(), toSpec({ record: JOB_RECORD }));
  const step = toAwaiting(current);
  expect(step?.change).toEqual({ kind: "awaitJob", jobId: JOB, command: "associateIpAddress" });
  expect(step && "lock" in step).toBe(false);
  expect(toAwaiting(toCurrent(createCloud().observation(), toSpec()))).toBeUndefined();
  const { steps, ingress } = planRelease(
    createCloud().observation(),
    toSpec({ record: JOB_RECORD }),
  );
  expect([steps.length, ingress]).toEqual([1, undefined]);
});

test("a job that is known to be over is not waited for, and the record goes when all is done", () => {
  for (const address of [undefined, "192.0.2.77"]) {
    const cloud = createCloud();
    if (address !== undefined) cloud.addAddress({ ip: address, networkId: "net-1" });
    const spec = toSpec({ ...(address !== undefined && { address }) });
    const { ingress } = converge(cloud, spec);
    const record = JOB_RECORD;
    const observation = { ...cloud.observation(), endedJobs: new Set([JOB]) };
    const { steps } = plan(observation, { ...spec, ingress, record });
    expect(steps.map(({ change }) => change)).toEqual([{ kind: "forgetRecord" }]);
    expect(plan(observation, { ...spec, ingress }).steps).toEqual([]);
    const release = planRelease(observation, { ...spec, ingress, record });
    expect(release.steps[0]?.change.kind).not.toBe("awaitJob");
  }
});

test("listAddresses() has the addresses of a Service, and planAddressRemoval() empties one", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.3", networkId: "net-1" });
  const own = cloud.addAddress({ ip: "192.0.2.2", networkId: "net-1", tags: OURS });
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1", description: "x" });
  const current = toCurrent(cloud.observation(), toSpec());
  expect(listAddresses(current).map(({ ip }) => ip)).toEqual(["192.0.2.1", "192.0.2.2"]);
  expect(
    planAddressRemoval(current, own, () => false).steps.map(({ change }) => change.kind),
  ).toEqual(["releaseAddress"]);
  const [users] = listAddresses(current);
  if (users === undefined) throw new Error("no address");
  const emptying = planAddressRemoval(current, users, () => false);
  expect(emptying.steps.map(({ change }) => change)).toMatchObject([
    { kind: "delete", what: "rule" },
  ]);
});

test("an address that is going is released again: a release that failed at its end leaves it so", () => {
  const cloud = createCloud();
  const own = cloud.addAddress({ ip: "192.0.2.1", tags: OURS, state: "Releasing" });
  const { steps, ingress } = planRelease(cloud.observation(), toSpec());
  expect(steps.map(({ change }) => change)).toEqual([
    { kind: "releaseAddress", addressId: own.id },
  ]);
  expect(ingress).toBeUndefined();
});

test("withItems() deletes each ACL item of the Service once", () => {
  const cloud = createCloud("tier");
  const item = cloud.addAclItem({ listId: "list-1", reason: REASON });
  const needed = cloud.addAclItem({
    listId: "list-1",
    reason: REASON,
    startPort: 443,
    endPort: 443,
  });
  const current = toCurrent(cloud.observation(), toSpec());
  const steps = withItems(current, [], ({ id }) => id === needed.id);
  expect(steps.map(({ change, lock }) => [change, lock])).toEqual([
    [{ kind: "delete", what: "aclItem", id: item.id }, "net-1"],
  ]);
  expect(withItems(current, steps, ({ id }) => id === needed.id)).toEqual(steps);
});

test("a release waits for an address that CloudStack is still taking", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.10", state: "Allocating" });
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const address = { ip: "192.0.2.10", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address });
  const { steps, problems, ingress } = planRelease(cloud.observation(), toSpec({ record }));
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "AddressNotUsable", isWaiting: true }]);
});

const ASKED_AT = "2026-01-01T00:00:00Z";
const WAITS: readonly [string, number, object, boolean][] = [
  ["a minute", 60_000, { ip: "192.0.2.10" }, true],
  ["a minute, without a choice", 60_000, {}, true],
  ["twelve minutes", 12 * 60_000, { ip: "192.0.2.10" }, false],
  ["minus one minute, because clocks differ", -60_000, { ip: "192.0.2.10" }, true],
  ["minus half an hour, because a clock is wrong", -30 * 60_000, { ip: "192.0.2.10" }, true],
  ["minus a year, which Landfall did not write", -365 * 86_400_000, { ip: "192.0.2.10" }, false],
];
for (const [what, afterMs, fields, waits] of WAITS) {
  const verb = waits ? "waits for" : "gives up";
  test(`a release ${verb} an address that was asked for without an answer, after ${what}`, () => {
    const cloud = createCloud();
    cloud.nowMs = Date.parse(ASKED_AT) + afterMs;
    const network = "01234567-89ab-4cde-8f01-23456789abcd";
    const address = { ...fields, network, at: ASKED_AT, free: true };
    const record = toRecord({ address });
    const { problems, ingress } = planRelease(cloud.observation(), toSpec({ record }));
    expect(problems.map(({ reason }) => reason)).toEqual(waits ? ["NotKnown"] : []);
    expect(ingress).toEqual(waits ? undefined : []);
  });
}

test("a release leaves the firewall rule of another Service that uses its address and has its port", () => {
  const cloud = createCloud();
  const other = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
  const ip = "192.0.2.60";
  cloud.addAddress({ ip, networkId: "net-1", tags: toTags(CLUSTER, other) });
  converge(cloud, toSpec({ address: ip }));
  const before = [...cloud.firewallRules.keys()];
  release(cloud, { ...toSpec(), owner: other });
  expect([...cloud.firewallRules.keys()]).toEqual(before);
});

test.each([
  `${LB_NAME}-sctp-80`,
  `${LB_NAME}-tcp-080`,
  `${LB_NAME}-tcp-80-x`,
  `x${LB_NAME}-tcp-80`,
  `${LB_NAME}0-tcp-80`,
  LB_NAME,
])("a release leaves a rule with the name %s, which is none of ours", (name) => {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: LEFT, networkId: "net-1" });
  cloud.addRule({ name, addressId, networkId: "net-1" });
  expect(release(cloud, toSpec({ ingress: [{ ip: LEFT }] })).done).toEqual([]);
});

test("a release says that an address stays whose tags name the Service in another cluster", () => {
  const cloud = createCloud();
  const cluster = "22222222-2222-4222-8222-222222222222";
  cloud.addAddress({ ip: "192.0.2.60", networkId: "net-1", tags: toTags(cluster, OWNER) });
  const { done, plan } = release(cloud, toSpec());
  expect(done).toEqual([]);
  expect(plan.problems).toMatchObject([{ reason: "AddressNotOurs", isWaiting: false }]);
  expect(plan.problems[0]?.message).toContain(cluster);
});
