import { expect, test } from "bun:test";
import { InstanceResolver } from "../../lib/cloud/inventory/resolver.ts";
import { InventorySource } from "../../lib/cloud/inventory/source.ts";
import { createReconcileMetrics } from "../../lib/engine/workers.ts";
import { NodeLoop, type NodeLoopOptions } from "../../lib/controllers/node_loop.ts";
import { NodePresences } from "../../lib/controllers/node_presences.ts";
import { WrittenVersions } from "../../lib/engine/written_versions.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createWorkQueueMetrics } from "../../lib/engine/work_queue_metrics.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { type Node, NODES } from "../../lib/kube/kinds/node.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import { FakeProvider, toInstance } from "../support/cloud/instances.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { toNode } from "../support/nodes/nodes.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";

interface SetUp extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly nodes: Store<Node>;
  readonly provider: FakeProvider;
  readonly source: InventorySource;
  readonly written: WrittenVersions;
  readonly loop: NodeLoop;
  /** Names as they were worked on, and those forgotten with a `-` before. */
  readonly worked: string[];
}

function setUp(over: Partial<NodeLoopOptions> = {}): SetUp {
  const clock = new ManualClock();
  const metrics = new MetricsRegistry();
  const nodes = new Store<Node>({ resource: NODES, log: silentLogger });
  const provider = new FakeProvider();
  const log = silentLogger;
  const source = new InventorySource({ provider, interest: () => [], clock, log, metrics });
  const written = new WrittenVersions();
  const resolver = new InstanceResolver(provider, source, clock);
  const worked: string[] = [];
  const loop = new NodeLoop({
    context: {
      client: new ScriptedKubeClient(clock),
      nodes,
      provider,
      source,
      resolver,
      presences: new NodePresences(resolver, source),
      events: { record: () => undefined },
      written,
      clock,
      log,
      queueMetrics: createWorkQueueMetrics(metrics),
      reconcileMetrics: createReconcileMetrics(metrics),
      workers: 2,
    },
    name: "test",
    queueName: "test",
    inputs: (node) => [node.metadata.labels],
    reconcile: async (node) => {
      worked.push(node.metadata.name);
      return {};
    },
    forget: (name) => worked.push(`-${name}`),
    onRefresh: (changed) => loop.enqueueTouched(changed),
    onTick: () => loop.enqueueAll(),
    tickIntervalMs: 60_000,
    ...over,
  });
  nodes.replace([], "1");
  const stop = new AbortController();
  const running = Promise.all([loop.run(stop.signal), source.run(stop.signal)]);
  return {
    clock,
    nodes,
    provider,
    source,
    written,
    loop,
    worked,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await clock.advance(0);
      await running;
    },
  };
}

test("NodeLoop works on a new Node, on a change of its inputs, and forgets one that is gone", async () => {
  await using rig = setUp();
  rig.nodes.apply(toNode("n"));
  await rig.clock.advance(0);
  rig.nodes.apply(toNode("n", { resourceVersion: "101", labels: { a: "b" } }));
  await rig.clock.advance(0);
  rig.nodes.remove(toNode("n", { resourceVersion: "102" }));
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["n", "n", "-n"]);
});

test("NodeLoop lets others have their turn between many Nodes that need nothing", async () => {
  await using rig = setUp();
  await rig.clock.advance(0);
  for (let at = 0; at < 1_000; at += 1) rig.nodes.apply(toNode(`n${at}`));
  // What waits for the event loop, such as an answer to the renewal of the Lease.
  let most = 0;
  for (let before = -1; rig.worked.length < 1_000;) {
    before = rig.worked.length;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, rig.worked.length - before);
  }
  expect(most).toBeLessThan(100);
});

test("NodeLoop passes over what is no input, such as a heartbeat", async () => {
  await using rig = setUp();
  rig.nodes.apply(toNode("n"));
  await rig.clock.advance(0);
  rig.nodes.apply(toNode("n", { resourceVersion: "101", nodeIp: "10.0.0.1" }));
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["n"]);
});

test("NodeLoop works on a Node that came again under its name, though nothing else differs", async () => {
  await using rig = setUp();
  const node = toNode("n");
  rig.nodes.apply(node);
  await rig.clock.advance(0);
  const metadata = { ...node.metadata, uid: "another", resourceVersion: "200" };
  rig.nodes.apply({ ...node, metadata });
  await rig.clock.advance(0);
  expect(rig.worked.length).toBeGreaterThan(1);
});

test("NodeLoop leaves a Node alone until the watch shows our own write, and then works on it at once", async () => {
  await using rig = setUp();
  const before = toNode("n");
  const after = toNode("n", { resourceVersion: "101", nodeIp: "10.0.0.1" });
  rig.written.note(before, after);
  rig.nodes.apply(before);
  await rig.clock.advance(0);
  expect(rig.worked).toEqual([]);
  // The change touches no input, yet the Node was put off for it.
  rig.nodes.apply(after);
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["n"]);
});

test("NodeLoop works on all Nodes at each tick", async () => {
  await using rig = setUp();
  rig.nodes.apply(toNode("a"));
  rig.nodes.apply(toNode("b"));
  await rig.clock.advance(0);
  await rig.clock.advance(60_000);
  expect(rig.worked).toEqual(["a", "b", "a", "b"]);
});

test("NodeLoop does not tick at rest, until a Node was worked on or a refresh ended the rest", async () => {
  let isAtRest = false;
  let ticks = 0;
  await using rig = setUp({ isAtRest: () => isAtRest, onTick: () => (ticks += 1) });
  rig.provider.refreshIntervalMs = 600_000;
  await rig.clock.advance(120_000);
  expect(ticks).toBe(2);
  isAtRest = true;
  await rig.clock.advance(300_000);
  expect(ticks).toBe(3);
  isAtRest = false;
  rig.nodes.apply(toNode("n"));
  await rig.clock.advance(60_000);
  expect(ticks).toBe(4);
  isAtRest = true;
  await rig.clock.advance(60_000);
  isAtRest = false;
  await rig.clock.advance(600_000);
  expect(ticks).toBeGreaterThan(5);
});

test("enqueueTouched() picks the Nodes whose instances changed", async () => {
  await using rig = setUp();
  rig.provider.refreshIntervalMs = 10_000;
  for (const id of ["a", "b"]) {
    rig.provider.instances.set(id, toInstance(id));
    rig.nodes.apply(toNode(id, { providerId: `test://${id}` }));
  }
  await rig.clock.advance(10_000);
  rig.worked.length = 0;
  rig.provider.instances.set("b", toInstance("b", { zone: "z" }));
  await rig.clock.advance(10_000);
  expect(rig.worked).toEqual(["b"]);
});

test("enqueueTouched() picks every Node when settings changed, those that have no instance too", async () => {
  await using rig = setUp();
  rig.provider.refreshIntervalMs = 10_000;
  rig.provider.instances.set("a", toInstance("a"));
  for (const id of ["a", "b"]) rig.nodes.apply(toNode(id, { providerId: `test://${id}` }));
  await rig.clock.advance(10_000);
  rig.worked.length = 0;
  rig.source.requestRefresh(true);
  await rig.clock.advance(10_000);
  expect(rig.worked).toEqual(["a", "b"]);
});

test("enqueueTouched() picks the initialised Nodes that name one instance and report another", async () => {
  await using rig = setUp();
  rig.provider.refreshIntervalMs = 10_000;
  // As with Xen Orchestra: both are known, the one of the provider ID and the one that is reported.
  const find = rig.provider.findInstance.bind(rig.provider);
  rig.provider.findInstance = (inventory, node) =>
    node.name.startsWith("rebuilt") && inventory.instances.has("new")
      ? { kind: "unknown", reason: "ambiguous", message: "two fit" }
      : find(inventory, node);
  rig.provider.instances.set("old", toInstance("old"));
  const old = { providerId: "test://old", uninitialized: false };
  rig.nodes.apply(toNode("rebuilt", old));
  rig.nodes.apply(toNode("rebuilt-and-tainted", { ...old, uninitialized: true }));
  rig.nodes.apply(toNode("well", old));
  await rig.clock.advance(10_000);
  rig.worked.length = 0;
  rig.provider.instances.set("new", toInstance("new"));
  await rig.clock.advance(10_000);
  expect(rig.worked).toEqual(["rebuilt"]);
});

test("enqueueUnlessWaiting() leaves a Node to its back-off, enqueue() does not", async () => {
  let tries = 0;
  await using rig = setUp({
    reconcile: async () => {
      tries += 1;
      throw new Error("refused");
    },
  });
  rig.nodes.apply(toNode("n"));
  await rig.clock.advance(0);
  rig.loop.enqueueUnlessWaiting("n");
  await rig.clock.advance(0);
  expect(tries).toBe(1);
  rig.loop.enqueue("n");
  await rig.clock.advance(0);
  expect(tries).toBe(2);
});

test.each([
  ["after the refusal", false],
  ["while it was on its way", true],
])(
  "NodeLoop works again on a Node that met a conflict as soon as the watch shows the newer one %s",
  async (_when, isEarly) => {
    let tries = 0;
    const newer = toNode("n", { resourceVersion: "101", nodeIp: "10.0.0.1" });
    await using rig = setUp({
      reconcile: async () => {
        tries += 1;
        if (tries > 1) return {};
        // It changes no input: only the conflict makes it count.
        if (isEarly) rig.nodes.apply(newer);
        throw new KubeError("conflict", "somebody else wrote first");
      },
    });
    rig.nodes.apply(toNode("n"));
    await rig.clock.advance(0);
    if (!isEarly) {
      expect(tries).toBe(1);
      rig.nodes.apply(newer);
    }
    await rig.clock.advance(0);
    expect(tries).toBe(2);
  },
);
