import { describe, expect, test } from "bun:test";
import { NodeController } from "../../../lib/controllers/node/mod.ts";
import { createNodeMetrics } from "../../../lib/controllers/node/metrics.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import {
  countQueued,
  countWrites,
  INSTANCE,
  isDone,
  toProvider,
} from "../../support/nodes/node_cloud.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { toNode, toRegistration } from "../../support/nodes/nodes.ts";
import { startRig, until } from "../../support/nodes/rig.ts";
import { planLabels } from "../../../lib/controllers/node/plan.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

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
      metrics: createNodeMetrics(metrics),
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

test("planLabels() replaces topology labels and sets only differences", () => {
  const node = toNode("n", {
    labels: { "topology.kubernetes.io/zone": "old", "failure-domain.beta.kubernetes.io/zone": "z" },
  });
  expect(planLabels(node, toInstance("i", { zone: "z" })).set).toEqual({
    "topology.kubernetes.io/zone": "z",
  });
});

describe("N-14 planLabels() refuses additional labels in namespaces of Kubernetes", () => {
  const reserved = [
    "topology.kubernetes.io/x",
    "topology.k8s.io/x",
    "kubernetes.io/x",
    "k8s.io/x",
    "foo.k8s.io/x",
  ];
  test.each(reserved)("%s", (key) => {
    const { set, refused } = planLabels(toNode("n"), toInstance("i", { labels: { [key]: "v" } }));
    expect(set).toEqual({});
    expect(refused[0]).toContain(key);
  });
  test.each(["app.k8snio/x", "k8snio/x", "vm.k8s.xenorchestra/name_label"])(
    "but takes %s",
    (key) => {
      expect(planLabels(toNode("n"), toInstance("i", { labels: { [key]: "v" } })).set).toEqual({
        [key]: "v",
      });
    },
  );
});

test("N-14 planLabels() never overwrites an additional label that is there", () => {
  const node = toNode("n", { labels: { "a.b/c": "mine" } });
  expect(planLabels(node, toInstance("i", { labels: { "a.b/c": "theirs" } })).set).toEqual({});
});

test("N-26 planLabels() leaves out illegal labels, says so, and sets the rest", () => {
  const instance = toInstance("i", { zone: "bad zone", region: "r", labels: { "a.b/c": "nœud" } });
  const { set, refused } = planLabels(toNode("n"), instance);
  expect(Object.values(set)).toEqual(["r", "r"]);
  expect(refused).toHaveLength(2);
  expect(refused.join()).toContain("bad zone");
  expect(refused.join()).toContain("nœud");
});

test("createNodeMetrics() observes delays from a Node's creation, in seconds, by upstream names", () => {
  const registry = new MetricsRegistry();
  const metrics = createNodeMetrics(registry);
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
