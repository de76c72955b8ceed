import { expect, test } from "bun:test";
import { createParts, type Parts } from "../../../lib/app/parts.ts";
import {
  listObjectPages,
  toDebugOptions,
  toInventoryView,
  toLoadBalancerSource,
} from "../../../lib/app/serving/debug_views.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import type { RunningController } from "../../../lib/controllers/definition.ts";
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
import { FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import { toServedParts } from "../../support/page/served_parts.ts";
import { toBareApp } from "../../support/process/bare_app.ts";

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
  const { controllers } = toServedParts(SERVICES, ["z/b", "y/a", "y/none"], {
    describe: ({ metadata: { name } }) =>
      name === "none" ? undefined : { state: "ready", ports: [name] },
  });
  const source = toLoadBalancerSource(controllers);
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", ports: ["a"], parts: [], lastReconcile: null },
    { namespace: "z", name: "b", state: "ready", ports: ["b"] },
  ]);
  expect(source?.listLeftovers()).toEqual([]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect([source?.find("y/none"), source?.find("y/other")]).toEqual([undefined, undefined]);
});

test("toLoadBalancerSource() has nothing without a controller of Services", () => {
  expect(toLoadBalancerSource([])).toBeUndefined();
});
