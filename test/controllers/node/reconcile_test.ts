import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { NODE_SELECTION } from "../../../lib/cloud/settings/sections.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import {
  countQueued,
  countWrites,
  INSTANCE,
  isDone,
  toProvider,
} from "../../support/nodes/node_cloud.ts";
import { toNode, toRegistration } from "../../support/nodes/nodes.ts";
import { startRig, until } from "../../support/nodes/rig.ts";
import { PACE, PacedClock } from "../../support/paced_clock.ts";
import { describeNode } from "../../../lib/controllers/node_view.ts";
import { toCondition } from "../../../lib/http/page/state.ts";
import { registerMetrics, NodeController } from "../../../lib/controllers/node/mod.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";

function toPresent(name: string): Presence {
  return { kind: "present", instance: toInstance(name, INSTANCE), matchedBy: "name" };
}

test("N-01 N-04 a tainted Node gets everything in one write, its addresses in a second, and an Event", async () => {
  await using rig = await startRig({ provider: toProvider("a") });
  rig.kubernetes.objects.createNode(
    toRegistration("a", { taints: [{ key: "other", effect: "NoSchedule" }] }),
  );
  await until("the Event is there", () => rig.listEvents("a", "Synced").length === 1);
  const node = rig.readNode("a");
  expect(node?.spec?.providerID).toBe("test://a");
  expect(node?.spec?.taints?.map(({ key }) => key)).toEqual(["other"]);
  expect(node?.metadata.labels).toEqual({
    "node.kubernetes.io/instance-type": "t",
    "beta.kubernetes.io/instance-type": "t",
    "topology.kubernetes.io/zone": "z",
    "failure-domain.beta.kubernetes.io/zone": "z",
    "topology.kubernetes.io/region": "r",
    "failure-domain.beta.kubernetes.io/region": "r",
  });
  expect(node?.status?.addresses).toEqual([
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "Hostname", address: "a" },
  ]);
  expect(countWrites(rig)).toEqual({
    "patch nodes": 1,
    "patch nodes/status": 1,
    "create events": 1,
    "patch events": 0,
  });
  expect(rig.metrics.render()).toContain("node_controller_initial_node_sync_delay_seconds_count 1");
});

test("N-02 an initialised Node costs no write and no cloud call", async () => {
  const provider = toProvider("a", "last");
  provider.refreshIntervalMs = 20;
  await using rig = await startRig({ provider });
  // The cloud does not list it: whoever asked would ask directly.
  const unlisted = toRegistration("b", { uninitialized: false, providerId: "test://b" });
  rig.kubernetes.objects.createNode(unlisted);
  rig.kubernetes.objects.createNode(
    toRegistration("a", {
      uninitialized: false,
      labels: { "topology.kubernetes.io/zone": "mine" },
    }),
  );
  rig.kubernetes.objects.createNode(toRegistration("last"));
  await until("the other is done", () => isDone(rig.readNode("last")));
  await until("the cloud was listed a few times", () => provider.lists >= 4);
  for (const name of ["a", "b"]) {
    expect(rig.kubernetes.requests.count({ verb: "patch", name })).toBe(0);
  }
  expect(rig.readNode("a")?.metadata.labels).toEqual({ "topology.kubernetes.io/zone": "mine" });
  expect(provider.reads).toBe(0);
});

test("N-19 a conflict is retried on the newest Node, and nobody's fields are lost", async () => {
  const provider = toProvider("a");
  await using rig = await startRig({ provider });
  rig.kubernetes.faults.refuse({ verb: "patch", resource: "nodes", status: 409, times: 2 });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("the first try was refused", () =>
    rig.kubernetes.requests.count({ verb: "patch", resource: "nodes" }),
  );
  rig.kubernetes.objects.patchNode("a", { metadata: { annotations: { other: "writer" } } });
  await until("it is initialised", () => isDone(rig.readNode("a")));
  expect(rig.readNode("a")?.metadata.annotations).toMatchObject({ other: "writer" });
});

test("N-19 a Node that changed behind a silent watch is a conflict, and keeps what memory leaves out", async () => {
  const provider = toProvider("a");
  const inventory = Promise.withResolvers<void>();
  provider.gate = inventory.promise;
  await using rig = await startRig({ provider });
  const { kubernetes } = rig;
  const applied = { "kubectl.kubernetes.io/last-applied-configuration": '{"big": [1, 2.50]}' };
  const rest = {
    images: [{ names: ["registry.example/a@sha256:0"], sizeBytes: 7 }],
    capacity: { "example.com/gpu": "2" },
  };
  const { metadata, spec, status } = toRegistration("a");
  kubernetes.objects.createNode({
    metadata: { ...metadata, annotations: applied },
    ...(spec ? { spec } : {}),
    status: Object.assign({}, status, rest),
  });
  await until("the Node was seen", () => countQueued(rig.metrics.render()) > 0);
  kubernetes.faults.silentWatches = true;
  kubernetes.objects.patchNode("a", { metadata: { annotations: { other: "writer" } } });
  inventory.resolve();
  await until("a stale write was refused", () =>
    rig.metrics.render().includes('outcome="conflict"'),
  );
  expect(isDone(rig.readNode("a"))).toBe(false);
  kubernetes.faults.silentWatches = false;
  kubernetes.dropWatches();
  await until("it is initialised", () => rig.listEvents("a", "Synced").length === 1);
  const node = rig.readNode("a");
  expect(node?.metadata.annotations).toEqual({ ...applied, other: "writer" });
  expect(node?.status).toMatchObject(rest);
  expect(node?.status?.addresses).toHaveLength(2);
});

test("N-20 a Node that is deleted while its cloud is asked is forgotten", async () => {
  const provider = toProvider("b");
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await using rig = await startRig({ provider });
  provider.readInstance = async () => {
    asked.resolve();
    await answer.promise;
    return { kind: "present", instance: toInstance("a", INSTANCE), matchedBy: "name" };
  };
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await asked.promise;
  rig.kubernetes.objects.deleteNode("a");
  rig.kubernetes.objects.createNode(toRegistration("b"));
  await until("the delete was seen", () => isDone(rig.readNode("b")));
  answer.resolve();
  await rig.stop();
  expect(rig.kubernetes.requests.count({ verb: "patch", name: "a" })).toBe(0);
});

test("a Node that comes again under its name while its cloud is asked gets nothing of the answer", async () => {
  const provider = toProvider("last");
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await using rig = await startRig({ provider });
  const ids = ["old", "new"];
  provider.readInstance = async () => {
    const id = ids.shift() ?? "late";
    if (id === "old") asked.resolve();
    if (id === "old") await answer.promise;
    return { kind: "present", instance: toInstance(id, INSTANCE), matchedBy: "name" };
  };
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await asked.promise;
  rig.kubernetes.objects.deleteNode("a");
  rig.kubernetes.objects.createNode(toRegistration("a"));
  rig.kubernetes.objects.createNode(toRegistration("last"));
  await until("both were seen", () => isDone(rig.readNode("last")));
  answer.resolve();
  await until("it is initialised", () => isDone(rig.readNode("a")));
  expect(rig.readNode("a")?.spec?.providerID).toBe("test://new");
});

test("N-22 a Node whose cloud call hangs holds up no other", async () => {
  const provider = toProvider("b", "c", "d");
  provider.readInstance = (_inventory, _node, signal) =>
    new Promise<Presence>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  await using rig = await startRig({ provider, workers: 2 });
  for (const name of ["a", "b", "c", "d"]) rig.kubernetes.objects.createNode(toRegistration(name));
  await until("the others are done", () =>
    ["b", "c", "d"].every((name) => isDone(rig.readNode(name))),
  );
  expect(isDone(rig.readNode("a"))).toBe(false);
});

test("N-13 N-25 a cloud that refuses leaves the taint, says why in an Event, and is asked again", async () => {
  const provider = toProvider("a");
  provider.failure = new CloudError("denied", "Xen Orchestra answered 401: check the token");
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until(
    "an Event says why",
    () => rig.listEvents("a", "NodeInitializationFailed").length > 0,
  );
  const [event] = rig.listEvents("a");
  expect(event).toMatchObject({
    type: "Warning",
    message: "Xen Orchestra answered 401: check the token",
  });
  expect(isDone(rig.readNode("a"))).toBe(false);
  provider.failure = undefined;
  await until("it is initialised", () => isDone(rig.readNode("a")));
});

test("N-21 a Node event retries at once, whatever the back-off says", async () => {
  const provider = toProvider();
  const clock = new PacedClock(PACE);
  await using rig = await startRig({ provider, clock });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  // After the fifth failure the back-off is at least sixteen seconds.
  await until("it failed five times", () => provider.reads >= 5);
  const pace = 5;
  clock.setPace(pace);
  provider.instances.set("a", toInstance("a", INSTANCE));
  rig.kubernetes.objects.patchNode("a", { metadata: { labels: { poke: "1" } } });
  await until("it is initialised", () => isDone(rig.readNode("a")), 15_000 / pace);
});

describe("N-23 N-24 annotated addresses replace the list whole, in the order of the annotation", () => {
  const annotations = [
    "192.168.0.1",
    "2001:db2::1",
    "2001:db2::1,172.16.0.1",
    "192.168.0.1,fd00:1:2:3:4::",
  ];
  test.each(annotations)("%s", async (nodeIp) => {
    const provider = toProvider();
    const reported = ["192.168.0.1", "2001:db2::1", "172.16.0.1", "fd00:1:2:3:4::", "10.0.0.9"];
    const addresses = reported.map((address) => ({ type: "InternalIP" as const, address }));
    provider.instances.set("a", toInstance("a", { addresses }));
    await using rig = await startRig({ provider });
    const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    const before = [
      ["InternalIP", "10.9.9.9"],
      ["InternalIP", "10.9.9.8"],
      ["Hostname", "a"],
    ] as const;
    const node = toRegistration("a", { nodeIp, taints: [notReady], addresses: before });
    rig.kubernetes.objects.createNode(node);
    await until("it is initialised", () => rig.listEvents("a", "Synced").length > 0);
    expect(rig.readNode("a")?.status?.addresses).toEqual([
      ...nodeIp.split(",").map((address) => ({ type: "InternalIP", address })),
      { type: "Hostname", address: "a" },
    ]);
    expect(rig.readNode("a")?.spec?.taints).toEqual([notReady]);
  });
});

test("addresses that could not be written at initialisation are written by the next try", async () => {
  await using rig = await startRig({ provider: toProvider("a") });
  rig.kubernetes.faults.refuse({ verb: "patch", resource: "nodes/status", status: 500, times: 1 });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("they are there", () => rig.readNode("a")?.status?.addresses?.length === 2);
});

test("N-09 N-10 a provider ID that the kubelet set stays, and the Node is initialised by it", async () => {
  await using rig = await startRig({ provider: toProvider("vm") });
  rig.kubernetes.objects.createNode(toRegistration("a", { providerId: "test://vm" }));
  await until("it is initialised", () => isDone(rig.readNode("a")));
  expect(rig.readNode("a")?.spec?.providerID).toBe("test://vm");
});

test("N-12 a Node of another cloud is left to that cloud's controller", async () => {
  const provider = toProvider("b");
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a", { providerId: "aws:///i-1" }));
  rig.kubernetes.objects.createNode(toRegistration("b"));
  await until("the other is done", () => rig.listEvents("b", "Synced").length === 1);
  expect(isDone(rig.readNode("a"))).toBe(false);
  expect(rig.listEvents("a")).toEqual([]);
  expect(provider.reads).toBe(0);
  expect(rig.metrics.render()).not.toContain('outcome="error"');
});

test("a Node whose machine is nowhere is asked for ever less often", async () => {
  const provider = toProvider();
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("it failed twice", () => provider.reads >= 2);
  const { outcomes } = toOutcomes(rig.metrics.render());
  expect(outcomes["ok"] ?? 0).toBe(0);
  expect(outcomes["error"]).toBe(provider.reads);
  // Heartbeats change nothing that counts.
  const { reads, lists } = provider;
  for (let beat = 0; beat < 20; beat += 1) {
    rig.kubernetes.objects.patchNodeStatus("a", {
      conditions: [{ type: "Ready", status: "True", message: `${beat}` }],
    });
  }
  rig.kubernetes.objects.createNode(toRegistration("b", { uninitialized: false }));
  await until(
    "the heartbeats were seen",
    () => toOutcomes(rig.metrics.render()).outcomes["ok"] === 1,
  );
  expect([provider.reads - reads, provider.lists - lists]).toEqual([0, 0]);
});

test("Nodes that waited for a cloud in trouble are looked at as soon as it answers", async () => {
  const provider = toProvider("a");
  const clock = new PacedClock(PACE);
  provider.failure = new CloudError("unreachable", "away");
  await using rig = await startRig({ provider, clock });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until(
    "it failed three times",
    () => Number(toOutcomes(rig.metrics.render()).outcomes["error"]) >= 3,
  );
  provider.failure = undefined;
  const before = provider.lists;
  await until("the cloud was asked again", () => provider.lists > before);
  // No back-off ends while time stands still.
  clock.setPace(0);
  await until("it is initialised", () => isDone(rig.readNode("a")));
});

test("a machine that two Nodes claim is nobody's until one of them is deleted", async () => {
  const provider = toProvider("a");
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a", { systemUuid: "11" }));
  await until("the first is initialised", () => isDone(rig.readNode("a")));
  rig.kubernetes.objects.createNode(toRegistration("b", { providerId: "test://a" }));
  await until("a Warning names the first", () =>
    rig.listEvents("b", "NodeInitializationFailed").some(({ message }) => message?.includes('"a"')),
  );
  expect(isDone(rig.readNode("b"))).toBe(false);
  rig.kubernetes.objects.deleteNode("a");
  await until("the second is initialised", () => isDone(rig.readNode("b")));
});

test("a Node whose addresses took two tries is announced all the same", async () => {
  await using rig = await startRig({ provider: toProvider("a") });
  rig.kubernetes.faults.refuse({ verb: "patch", resource: "nodes/status", status: 500, times: 1 });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("it is announced", () => rig.listEvents("a", "Synced").length === 1);
  expect(rig.readNode("a")?.status?.addresses).toHaveLength(2);
  expect(rig.metrics.render()).toContain("node_controller_initial_node_sync_delay_seconds_count 1");
});

test("a new Node of another cloud is told once what to do, if no other controller initialises it", async () => {
  const provider = toProvider("last");
  const clock = new PacedClock(PACE);
  const sections = NODE_SELECTION.parse({ selector: "!bare" }).settings;
  await using rig = await startRig({
    provider,
    clock,
    fullPassIntervalMs: 301_000,
    sections: { [NODE_SELECTION.key]: sections },
  });
  const { objects, requests } = rig.kubernetes;
  const sinceMs = clock.monotonic();
  const providerId = "openstack:///abc";
  objects.createNode(toRegistration("waiting", { providerId }));
  objects.createNode(toRegistration("initialised", { providerId }));
  objects.createNode(toRegistration("unselected", { providerId, labels: { bare: "" } }));
  await until("some time is over", () => clock.monotonic() > sinceMs + 15_000);
  objects.patchNode("initialised", { spec: { taints: null } });
  const listSaid = () => rig.listEvents("waiting", "NodeInitializationFailed");
  await until("an Event says so", () => listSaid().length > 0);
  expect(clock.monotonic() - sinceMs).toBeGreaterThanOrEqual(60_000);
  clock.setPace(1_000);
  const untilMs = clock.monotonic() + 700_000;
  await until("two passes are over", () => clock.monotonic() > untilMs);
  // At that pace, a busy machine answers no request in time.
  clock.setPace(PACE);
  objects.createNode(toRegistration("last"));
  await until("a later Event is there", () => rig.listEvents("last", "Synced").length === 1);
  const [said, ...more] = rig.listEvents("waiting");
  expect([said?.type, said?.count, more]).toEqual(["Warning", 1, []]);
  for (const name of ["initialised", "unselected"]) expect(rig.listEvents(name)).toEqual([]);
  expect(provider.reads).toBe(0);
  expect(requests.count({ verb: "patch", resource: "nodes", name: "waiting" })).toBe(0);
  const node = rig.readNode("waiting");
  if (node === undefined) throw new Error("the Node is gone");
  const view = describeNode(node, { kind: "foreign", providerId }, provider);
  const { state, why } = toCondition({ ...view, ready: "True", lastReconcile: null });
  expect(state).toBe("unmatched");
  for (const text of [said?.message, why]) {
    expect(text).toContain("keeps the NoSchedule taint");
    expect(text).toContain(providerId);
    expect(text).toContain("start its kubelet without --provider-id");
  }
});

test("a Node that was there before Landfall is told once what to do, and is not touched", async () => {
  const provider = toProvider("old", "last");
  const clock = new PacedClock(PACE);
  await using rig = await startRig({ provider, clock, fullPassIntervalMs: 301_000 });
  const { objects, requests } = rig.kubernetes;
  objects.createNode(toRegistration("old", { uninitialized: false, ready: "True" }));
  // No machine of this cloud, such as a bare-metal Node.
  objects.createNode(toRegistration("strange", { uninitialized: false, ready: "True" }));
  await until("an Event says so", () => rig.listEvents("old", "NodeNotManaged").length === 1);
  clock.setPace(1_000);
  const untilMs = clock.monotonic() + 700_000;
  await until("two passes are over", () => clock.monotonic() > untilMs);
  // At that pace, a busy machine answers no request in time.
  clock.setPace(PACE);
  objects.createNode(toRegistration("last"));
  await until("a later Event is there", () => rig.listEvents("last", "Synced").length === 1);
  const [said, ...more] = rig.listEvents("old");
  expect([said?.type, said?.count, more]).toEqual(["Warning", 1, []]);
  // A user may have removed the taint by hand: then the command alone is enough.
  expect(said?.message).toMatch(
    /or a user removed it.*kubectl taint node old .*restart its kubelet/,
  );
  expect(rig.listEvents("strange")).toEqual([]);
  expect(requests.count({ verb: "patch", resource: "nodes", name: "old" })).toBe(0);
  const node = rig.readNode("old");
  if (node === undefined) throw new Error("the Node is gone");
  const view = describeNode(node, toPresent("old"), provider);
  const { why } = toCondition({ ...view, ready: "True", lastReconcile: null });
  expect(why).toBe(said?.message ?? "");
});

test("a type of address that changes is an Event once it is written, and only once", async () => {
  const provider = toProvider("a", "last");
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("it is initialised", () => rig.listEvents("a", "Synced").length === 1);
  const listChanges = (): readonly unknown[] => rig.listEvents("a", "NodeAddressTypeChanged");
  expect(listChanges()).toEqual([]);
  // Somebody else writes the old type again and again, and is put right each time.
  for (const round of [1, 2, 3]) {
    const addresses = [
      { type: "ExternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: `a${round}` },
    ];
    rig.kubernetes.objects.patchNodeStatus("a", { addresses });
    await until(
      "it is put right",
      () => rig.readNode("a")?.status?.addresses?.[0]?.type === "InternalIP",
    );
  }
  rig.kubernetes.objects.createNode(toRegistration("last"));
  await until("a later Event is there", () => rig.listEvents("last", "Synced").length === 1);
  const message = "Type of address changed: 10.0.0.1 from ExternalIP to InternalIP";
  expect(listChanges()).toMatchObject([{ type: "Normal", message, count: 1 }]);
});

function toOutcomes(metrics: string): { outcomes: Record<string, number> } {
  const found = metrics.matchAll(
    /landfall_reconciles_total\{controller="cloud-node",outcome="(\w+)"\} (\d+)/g,
  );
  return {
    outcomes: Object.fromEntries([...found].map(([, name = "", count]) => [name, Number(count)])),
  };
}

test.each([1, 5, 10, 30])(
  "N-18 periodic passes of %d workers look at memory: the cloud is asked by the refresh alone",
  async (workers) => {
    const names = Array.from({ length: 6 }, (_, at) => `n-${at}`);
    const provider = toProvider(...names);
    await using rig = await startRig({ provider, workers, fullPassIntervalMs: 20 });
    for (const name of names) rig.kubernetes.objects.createNode(toRegistration(name));
    await until("they are initialised", () =>
      names.every((name) => rig.listEvents(name, "Synced").length === 1),
    );
    const { lists, reads } = provider;
    const adds = countQueued(rig.metrics.render());
    await until("ten passes went by", () => countQueued(rig.metrics.render()) >= adds + 60);
    expect([provider.lists - lists <= 1, provider.reads - reads]).toEqual([true, 0]);
    expect(countWrites(rig)["patch nodes"]).toBe(names.length);
  },
);

test("N-17 passes never write addresses of a tainted Node, nor clear those of an initialised one", async () => {
  const provider = toProvider("done");
  provider.refreshIntervalMs = 20;
  const wrong = [{ type: "InternalIP", address: "10.0.0.7" }] as const;
  provider.instances.set("tainted", toInstance("tainted", { ...INSTANCE, addresses: wrong }));
  await using rig = await startRig({ provider, fullPassIntervalMs: 20 });
  // The kubelet's annotation names an address that the cloud does not know, so the taint stays.
  rig.kubernetes.objects.createNode(toRegistration("tainted", { nodeIp: "10.9.9.9" }));
  rig.kubernetes.objects.createNode(toRegistration("done"));
  await until("one is done", () => rig.listEvents("done", "Synced").length === 1);
  const before = rig.readNode("done")?.status?.addresses;
  provider.instances.set("done", toInstance("done", { ...INSTANCE, addresses: [] }));
  const { lists } = provider;
  await until("the cloud was listed again", () => provider.lists >= lists + 2);
  const adds = countQueued(rig.metrics.render());
  await until("ten passes went by", () => countQueued(rig.metrics.render()) >= adds + 20);
  expect(before).toHaveLength(2);
  expect(rig.readNode("done")?.status?.addresses).toEqual(before);
  expect(rig.kubernetes.requests.count({ verb: "patch", name: "tainted" })).toBe(0);
  expect(rig.readNode("tainted")?.status?.addresses).toHaveLength(1);
});

test("an instance whose addresses change is followed after the next refresh", async () => {
  const provider = toProvider("a");
  provider.refreshIntervalMs = 50;
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("it is initialised", () => rig.listEvents("a", "Synced").length === 1);
  provider.instances.set(
    "a",
    toInstance("a", { ...INSTANCE, addresses: [{ type: "InternalIP", address: "10.0.0.2" }] }),
  );
  await until(
    "it has the new one",
    () => rig.readNode("a")?.status?.addresses?.[0]?.address === "10.0.0.2",
  );
});

describe("a Node whose instance no list shows", () => {
  const MINUTE_MS = 60_000;

  interface Wait extends AsyncDisposable {
    readonly world: LifecycleWorld;
    /** Moves time on until `holds`. */
    until(what: string, holds: () => boolean): Promise<void>;
    /** In how many milliseconds it is tried again by itself; 0 when that is not known. */
    toRetryMs(): number;
    readonly isInitialised: boolean;
  }

  /** One new Node. @param failure What the cloud fails with */
  async function startWaiting(failure?: Error): Promise<Wait> {
    const world = createLifecycleWorld();
    const { clock, server, source, nodes, provider, context, metrics } = world;
    provider.failure = failure;
    server.put(toNode("a"));
    const controller = new NodeController({
      context,
      metrics: registerMetrics(metrics),
      services: new Store({ resource: SERVICES, log: context.log }),
      findPools: () => [],
      fullPassIntervalMs: 60 * MINUTE_MS,
    });
    const stopping = new AbortController();
    const running = [controller.run(stopping.signal), source.run(stopping.signal)];
    await clock.advance(0);
    return {
      world,
      async until(what, holds) {
        const endMs = clock.monotonic() + 60 * MINUTE_MS;
        while (!holds()) {
          if (clock.monotonic() >= endMs) throw new Error(`waited in vain until ${what}`);
          await clock.advance(1_000);
        }
      },
      toRetryMs() {
        const node = nodes.get("a");
        const { nextReconcileAt } = node ? controller.describe(node) : {};
        return nextReconcileAt === undefined ? 0 : Date.parse(nextReconcileAt) - clock.now();
      },
      get isInitialised() {
        return isDone(server.find("a"));
      },
      async [Symbol.asyncDispose]() {
        stopping.abort(new Error("the test is over"));
        await clock.advance(MINUTE_MS);
        await Promise.all(running);
      },
    };
  }

  test("is tried again once the cloud answers again, whatever its back-off", async () => {
    await using wait = await startWaiting(new Error("no answer"));
    const { clock, provider } = wait.world;
    await wait.until("its back-off is long", () => wait.toRetryMs() > 3 * MINUTE_MS);
    provider.failure = undefined;
    const instance = toInstance("a", INSTANCE);
    provider.missing = () => ({ kind: "present", instance, matchedBy: "name" });
    await clock.advance(MINUTE_MS);
    expect(wait.isInitialised).toBe(true);
  });

  test("is not asked for after each refresh of a cloud that answers", async () => {
    await using wait = await startWaiting();
    const { clock, provider } = wait.world;
    await wait.until("its back-off is long", () => wait.toRetryMs() > 3 * MINUTE_MS);
    const { reads, lists } = provider;
    await clock.advance(2 * MINUTE_MS);
    expect(provider.lists).toBeGreaterThan(lists + 2);
    expect(provider.reads).toBe(reads);
  });
});

test("registerMetrics() observes delays from a Node's creation, in seconds, by upstream names", () => {
  const registry = new MetricsRegistry();
  const metrics = registerMetrics(registry);
  const node = toNode("n");
  const created = Date.parse("2026-01-01T00:00:00Z");
  metrics.observeTaintRemoval(node, created + 3_000);
  metrics.observeInitialSync(node, created + 17_000);
  const text = registry.render();
  expect(text).toContain(
    'node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le="1"} 0',
  );
  expect(text).toContain(
    'node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le="4"} 1',
  );
  expect(text).toContain("node_controller_initial_node_sync_delay_seconds_sum 17");
});
