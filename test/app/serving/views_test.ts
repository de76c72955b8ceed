/**
 * The data of the debug pages.
 * @module
 */
import { createParts, type Parts } from "../../../lib/app/parts.ts";
import {
  listObjectPages,
  toDebugOptions,
  toInventoryView,
  toLoadBalancerSource,
  toProcessView,
  toSipClusterSource,
  toVinoSource,
} from "../../../lib/app/serving/views.ts";
import { type Machine, toMachineName } from "../../../lib/cloud/capabilities/machines.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import type { LoadedController, RunningController } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { SIP_CLUSTERS } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { NodeView } from "../../../lib/http/views.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { CONFIG_MAPS, GALLERIES, NAME } from "../../support/galleries/gallery.ts";
import {
  galleryController,
  TWIN_LEASE,
  TWIN_NAME,
  twinController,
} from "../../support/galleries/definition.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import { toServedParts } from "../../support/page/served_parts.ts";
import { toBareApp } from "../../support/process/bare_app.ts";
import { expect, test } from "bun:test";

const galleryControllers = [galleryController, twinController].map(
  (definition): LoadedController => {
    const create: LoadedController["module"]["create"] = ({ caches }) => {
      caches.reader(GALLERIES);
      caches.reader(CONFIG_MAPS, { namespace: "n", labelSelector: "a" });
      return { run: async () => {} };
    };
    return { definition, module: { create } };
  },
);
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

test("toProcessView() tells which Lease each controller waits for, and what it reads", () => {
  const client = new ScriptedKubeClient(new ManualClock());
  const election = { client, namespace: "n", name: "ccm", ...times };
  const options = toBareApp({ controllers: galleryControllers, election });
  const view = toProcessView(options, createParts(options));
  expect(view.elections.map(({ lease, isLeading }) => [lease, isLeading])).toEqual([
    ["ccm", false],
    [TWIN_LEASE, false],
  ]);
  expect(view.controllers).toEqual([
    { name: NAME, lease: "ccm", isRunning: false },
    { name: TWIN_NAME, lease: TWIN_LEASE, isRunning: false },
  ]);
  expect(view.kinds).toContainEqual({ kind: "galleries.example.org/v1", state: "waiting" });
  expect(view.kinds).toContainEqual({
    kind: "configmaps/v1",
    selection: "namespace=n labelSelector=a",
    state: "waiting",
  });
});

test("toProcessView() without election says that all controllers run", () => {
  const options = toBareApp({ controllers: galleryControllers });
  const view = toProcessView(options, createParts(options));
  expect(view.elections).toEqual([]);
  expect(view.controllers.every(({ isRunning }) => isRunning)).toBe(true);
});

/** What is shown of a Node when these controllers run, each of them for Nodes or for Events. */
function show(...said: readonly (readonly ["Node" | "Event", object])[]): NodeView | undefined {
  const options = toBareApp({ provider: new FakeProvider() });
  const { cloud, ...parts } = createParts(options);
  const [definition] = CONTROLLERS;
  if (cloud === undefined || definition === undefined) throw new Error("there is no cloud");
  const controllers: Parts["controllers"] = said.map(([kind, view]) => {
    const controller: RunningController = { run: async () => {}, describe: () => view };
    return { definition: { ...definition, kind: kind === "Node" ? NODES : EVENTS }, controller };
  });
  const nodes = new Store<Node>({ resource: NODES, log: silentLogger });
  nodes.replace([toNode("n", { ready: "True" })], "1");
  const world = { ...parts, cloud: { ...cloud, nodes }, controllers };
  return toDebugOptions(options, world).findNode("n");
}

test("toDebugOptions() shows a Node also when no controller of Nodes runs", () => {
  expect(show()).toMatchObject({
    name: "n",
    ready: "True",
    presence: { kind: "unknown" },
    lastReconcile: null,
  });
  expect(show()).not.toHaveProperty("deletion");
});

test("toDebugOptions() adds to a Node what each controller of Nodes says of it", () => {
  const lastReconcile = { at: "2026-01-01T00:00:00Z", outcome: "ok" };
  const deletion = { state: "waiting" };
  const view = show(["Node", { lastReconcile }], ["Event", { name: "e" }], ["Node", { deletion }]);
  expect(view).toMatchObject({ name: "n", lastReconcile, deletion });
});

test("listObjectPages() shows the objects of a controller that works on another kind, by their keys", () => {
  const { controllers } = toServedParts(EVENTS, ["ns/e"], { describe: () => ({ size: 3 }) });
  const [{ definition } = {}] = controllers;
  if (definition === undefined) throw new Error("there is no controller");
  const bare = { definition, controller: { run: async () => {} } };
  const pages = listObjectPages([bare, ...controllers]);
  expect(pages.map(({ plural, keys }) => [plural, [...keys()]])).toEqual([["events", ["ns/e"]]]);
  expect(pages[0]?.find("ns/e")).toEqual({ name: "e", namespace: "ns", size: 3 });
  expect(pages[0]?.find("e")).toBeUndefined();
});

test.each<[string, Resource<KubeObject>, Partial<RunningController>]>([
  ["Services", SERVICES, {}],
  ["SIPClusters", SIP_CLUSTERS, { listHosts: () => [] }],
  ["Vinos", VINOES, { observeMachines: async () => undefined }],
])("listObjectPages() leaves %s to their own pages", (_title, kind, offers) => {
  expect(listObjectPages(toServedParts(kind, ["y/a"], offers).controllers)).toEqual([]);
});

test("toInventoryView() tells age, parts, counts and the last failure", async () => {
  const clock = new ManualClock();
  const provider = new FakeProvider();
  provider.instances.set("a", toInstance("a"));
  provider.clock = () => clock.monotonic();
  const source = new InventorySource({
    provider,
    interest: () => [],
    clock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
  expect(toInventoryView(source, clock)).toEqual({
    ageSeconds: null,
    coverage: [],
    counts: { instances: 0, undecodable: 0 },
  });
  const stopping = new AbortController();
  const running = source.run(stopping.signal);
  await clock.advance(1_000);
  provider.failure = new Error("away");
  await clock.advance(29_000);
  expect(toInventoryView(source, clock)).toEqual({
    ageSeconds: 30,
    observedAt: "2026-01-01T00:00:00.000Z",
    coverage: [{ id: "cloud", complete: true }],
    counts: { instances: 1, undecodable: 0 },
    lastError: "away",
    lastRefreshDurationMs: 0,
  });
  stopping.abort();
  await running;
});

test("toLoadBalancerSource() lists the Services that the controller describes, in order", () => {
  const parts = toServedParts(SERVICES, ["z/b", "y/a", "y/none"], {
    describe: ({ metadata: { name } }) =>
      name === "none" ? undefined : { state: "ready", ports: [name] },
  });
  const source = toLoadBalancerSource(parts);
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", ports: ["a"], parts: [], lastReconcile: null },
    { namespace: "z", name: "b", state: "ready", ports: ["b"] },
  ]);
  expect(source?.listLeftovers()).toEqual([]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect([source?.find("y/none"), source?.find("y/other")]).toEqual([undefined, undefined]);
});

test("toLoadBalancerSource() shows what this process wrote about a Service, the newest first", () => {
  const parts = toServedParts(SERVICES, ["y/a", "y/b"], { describe: () => ({ state: "ready" }) });
  const object = parts.groups[0]?.controllers[0]?.controller.objects?.get("y/a");
  if (object === undefined) throw new Error("there is a Service");
  const { record } = parts.events.speakAs("service-controller");
  for (const message of ["first", "second", "first"]) {
    record(object, { type: "Normal", reason: "Ensured", message });
  }
  const source = toLoadBalancerSource(parts);
  expect(source?.find("y/a")?.events).toMatchObject([
    { reason: "Ensured", message: "first", count: 2 },
    { reason: "Ensured", message: "second", count: 1 },
  ]);
  expect(source?.find("y/b")).not.toHaveProperty("events");
});

test("toLoadBalancerSource() has nothing without a controller of Services", () => {
  expect(toLoadBalancerSource({ ...toServedParts(SERVICES, []), groups: [] })).toBeUndefined();
});

const PARTS = toServedParts(SIP_CLUSTERS, ["z/b", "y/a"], {
  describe: () => ({ state: "ready" }),
  listHosts: () => [{ key: "m/h", places: {}, state: "available", cluster: "z/b" }],
});

test("toSipClusterSource() lists clusters in order, and hosts by namespace and name", () => {
  PARTS.caches.reader(SERVICES);
  const source = toSipClusterSource({ ...PARTS, groups: [{ controllers: [] }, ...PARTS.groups] });
  expect(source?.readServing()).toEqual({ missing: [] });
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", roles: [], lastReconcile: null },
    { namespace: "z", name: "b" },
  ]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect(source?.find("z/none")).toBeUndefined();
  expect([...(source?.listHosts() ?? [])]).toMatchObject([
    { namespace: "m", name: "h", state: "available", cluster: "z/b" },
  ]);
});

test("toSipClusterSource() has nothing without a controller that has hosts", () => {
  expect(toSipClusterSource({ ...PARTS, groups: [] })).toBeUndefined();
});

const OURS = { namespace: "y", name: "a", uid: toUuid("y/a") };
const GONE = { namespace: "y", name: "gone", uid: toUuid("y/gone") };
const { signal } = new AbortController();

function toMachine(owner: typeof OURS, fields: Partial<Machine> = {}): Machine {
  const name = toMachineName({ owner, role: "worker", index: 0 });
  const shown = { isComplete: true, power: "running", firmware: "uefi", poolId: "p" } as const;
  return { name, id: `id-${name}`, ...shown, ...fields };
}

function choose(machines: readonly Machine[], described: readonly object[] = []) {
  const host = { id: "h", name: "xcp-1", poolId: "p", tags: ["a"], isEnabled: true };
  return toServedParts(VINOES, ["z/b", "y/a"], {
    describe: ({ metadata: { name } }) => ({
      state: "ready",
      wanted: 1,
      ...(described.length > 0 && { machines: name === OURS.name ? described : [] }),
    }),
    listPools: () => [{ pool: "a", family: "IPv4", used: 1, total: 2 }],
    observeMachines: async () => ({
      observedAtMs: 0,
      isForChange: false,
      pools: [{ id: "p", name: "paris", isComplete: true }],
      hosts: [host],
      machines: Map.groupBy(machines, ({ name }) => name),
    }),
  });
}

test("toVinoSource() lists Vinos in order, with the pools of addresses", () => {
  const source = toVinoSource(choose([]));
  expect(source?.readServing()).toEqual({ missing: [] });
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", wanted: 1, machines: [], lastReconcile: null },
    { namespace: "z", name: "b" },
  ]);
  expect(source?.find("z/none")).toBeUndefined();
  expect(source?.listPools()).toEqual([{ pool: "a", family: "IPv4", used: 1, total: 2 }]);
});

test("toVinoSource() knows which Vino has a machine, and where the machine is", async () => {
  const machines = [
    toMachine(GONE, { firstHostId: "h" }),
    toMachine(OURS, { hostId: "h", firstHostId: "other" }),
    toMachine(OURS, { id: "twin" }),
  ];
  const cloud = await toVinoSource(choose(machines))?.readCloud(signal);
  expect(cloud?.hosts).toEqual([{ id: "h", name: "xcp-1", poolId: "p", isEnabled: true }]);
  const base = { poolId: "p", power: "running", isComplete: true };
  const [name, gone] = [OURS, GONE].map((owner) => toMachine(owner).name);
  expect(cloud?.machines).toEqual([
    { ...base, name, id: `id-${name}`, hostId: "h", vino: "y/a" },
    { ...base, name, id: "twin", vino: "y/a" },
    { ...base, name: gone, id: `id-${gone}`, hostId: "h" },
  ] as NonNullable<typeof cloud>["machines"]);
});

test("toVinoSource() shows machines that the last inventory does not have yet", async () => {
  const seen = { name: "new", machineId: "vm", host: "h", power: "running", state: "Ready" };
  const { power: _gone, ...vanished } = seen;
  const listed = toMachine(OURS, { hostId: "h" });
  const described = [
    seen,
    { ...seen, name: listed.name, power: "stopped" },
    { ...vanished, name: "vanished" },
    { ...seen, name: "elsewhere", host: "h-9" },
  ];
  const cloud = await toVinoSource(choose([listed], described))?.readCloud(signal);
  expect(cloud?.machines.map(({ name, power }) => [name, power])).toEqual([
    ["new", "running"],
    [listed.name, "running"],
  ]);
  expect(cloud?.machines[0]).toMatchObject({ id: "vm", hostId: "h", poolId: "p", vino: "y/a" });
});

test("toVinoSource() has nothing without a controller that makes machines", () => {
  expect(toVinoSource({ ...choose([]), groups: [] })).toBeUndefined();
});
