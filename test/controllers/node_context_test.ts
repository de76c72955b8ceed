import { expect, test } from "bun:test";
import { InstanceResolver } from "../../lib/cloud/inventory/resolver.ts";
import { InventorySource } from "../../lib/cloud/inventory/source.ts";
import { NodePresences, replaceAddresses } from "../../lib/controllers/node_context.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import { HintingProvider, toInstance } from "../support/cloud/instances.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";
import { toNode } from "../support/nodes/nodes.ts";

class CountingProvider extends HintingProvider {
  looks = 0;
  override findInstance(
    ...args: Parameters<HintingProvider["findInstance"]>
  ): ReturnType<HintingProvider["findInstance"]> {
    this.looks += 1;
    return super.findInstance(...args);
  }
}

async function setUp(): Promise<{
  provider: CountingProvider;
  presences: NodePresences;
  source: InventorySource;
  refresh(): Promise<void>;
  /** Has an instance read by itself, as it is from now on. */
  readAlone(id: string): Promise<void>;
  stop(): Promise<void>;
}> {
  const clock = new ManualClock();
  const provider = new CountingProvider();
  provider.refreshIntervalMs = 10_000;
  provider.instances.set("a", toInstance("a"));
  const metrics = new MetricsRegistry();
  const source = new InventorySource({
    provider,
    interest: () => [],
    clock,
    log: silentLogger,
    metrics,
  });
  const stopping = new AbortController();
  const running = source.run(stopping.signal);
  await clock.advance(0);
  return {
    provider,
    source,
    presences: new NodePresences(new InstanceResolver(provider, source, clock), source),
    refresh: () => clock.advance(10_000),
    readAlone: async (id) => {
      provider.instances.set(id, toInstance(id, { zone: "of its own" }));
      provider.hint(new Set([id]));
      await clock.advance(1_000);
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

test("NodePresences looks for a Node once, until it or the instances change", async () => {
  const { provider, presences, refresh, stop } = await setUp();
  const node = toNode("a");
  expect(presences.find(node)).toMatchObject({ kind: "present", instance: { id: "a" } });
  expect(presences.find(node)).toBe(presences.find(node));
  expect(provider.looks).toBe(1);
  presences.find(toNode("a", { resourceVersion: "101" }));
  expect(provider.looks).toBe(2);
  provider.instances.set("a", toInstance("a", { zone: "z" }));
  await refresh();
  expect(presences.find(node)).toMatchObject({ instance: { zone: "z" } });
  await stop();
});

test("NodePresences forgets what it found as soon as settings change", async () => {
  const { provider, presences, source, stop } = await setUp();
  const node = toNode("a");
  expect(presences.find(node).kind).toBe("present");
  provider.findInstance = () => ({ kind: "foreign" });
  expect(presences.find(node).kind).toBe("present");
  source.requestRefresh(true);
  expect(presences.find(node).kind).toBe("foreign");
  await stop();
});

test("NodePresences looks again for a Node that was not found", async () => {
  const { provider, presences, refresh, stop } = await setUp();
  const node = toNode("b", { providerId: "test://b" });
  presences.find(node);
  expect(presences.find(node)).toMatchObject({ reason: "notListed" });
  expect(provider.looks).toBe(2);
  provider.instances.set("b", toInstance("b"));
  await refresh();
  expect(presences.find(node).kind).toBe("present");
  await stop();
});

test("NodePresences looks again for no Node but its own when an instance was read by itself", async () => {
  const { provider, presences, refresh, readAlone, stop } = await setUp();
  for (const id of ["b", "c"]) provider.instances.set(id, toInstance(id));
  await refresh();
  const nodes = ["a", "b", "c"].map((name) => toNode(name));
  for (const node of nodes) presences.find(node);
  provider.looks = 0;
  await readAlone("b");
  const found = nodes.map((node) => presences.find(node));
  expect(found.map((one) => one.kind === "present" && one.instance.zone)).toEqual([
    undefined,
    "of its own",
    undefined,
  ]);
  expect(provider.looks).toBe(1);
  await stop();
});

test("NodePresences looks again for every Node when an instance appears by itself", async () => {
  const { provider, presences, readAlone, stop } = await setUp();
  const node = toNode("a");
  expect(presences.find(node).kind).toBe("present");
  const find = provider.findInstance.bind(provider);
  provider.findInstance = (inventory, identity) =>
    inventory.instances.has("twin")
      ? { kind: "unknown", reason: "ambiguous", message: "two fit" }
      : find(inventory, identity);
  await readAlone("twin");
  expect(presences.find(node).kind).toBe("unknown");
  await stop();
});

test("listAffected() names the Nodes of what changed, by one pass for all who ask at once", async () => {
  const { provider, presences, refresh, stop } = await setUp();
  provider.instances.set("b", toInstance("b"));
  await refresh();
  let passes = 0;
  const nodes = {
    *[Symbol.iterator]() {
      passes += 1;
      yield* ["a", "b", "none"].map((name) => toNode(name));
    },
  };
  const changed = new Set(["b"]);
  expect(presences.listAffected(changed, nodes)).toEqual(["b"]);
  expect(presences.listAffected(changed, nodes)).toEqual(["b"]);
  expect(passes).toBe(1);
  expect(presences.listAffected(new Set(["a"]), nodes)).toEqual(["a"]);
  expect(presences.listAffected(new Set(), nodes)).toEqual([]);
  await stop();
});

test("listAffected() names every Node when settings changed, those that have no instance too", async () => {
  const { presences, stop } = await setUp();
  const nodes = ["a", "none"].map((name) => toNode(name));
  expect(presences.listAffected("everything", nodes)).toEqual(["a", "none"]);
  await stop();
});

test("listAffected() names the initialised Nodes that name one instance and report another", async () => {
  const { provider, presences, stop } = await setUp();
  const find = provider.findInstance.bind(provider);
  // As with Xen Orchestra: both are known, the one of the provider ID and the one that is reported.
  provider.findInstance = (inventory, node) =>
    node.name.startsWith("rebuilt")
      ? { kind: "unknown", reason: "ambiguous", message: "two fit" }
      : find(inventory, node);
  const old = { providerId: "test://a", uninitialized: false };
  const nodes = [
    toNode("rebuilt", old),
    toNode("rebuilt-and-tainted", { ...old, uninitialized: true }),
    toNode("well", old),
  ];
  expect(presences.listAffected(new Set(["new"]), nodes)).toEqual(["rebuilt"]);
  await stop();
});

test("replaceAddresses() sends the whole list, over the version that was planned on", async () => {
  const client = new ScriptedKubeClient(new ManualClock());
  const node: Node = { metadata: { name: "a", uid: "u", resourceVersion: "7" } };
  const addresses = [{ type: "InternalIP", address: "10.0.0.1" }] as const;
  await replaceAddresses(client, node, addresses, new AbortController().signal);
  const path = { name: "a", subresource: "status" };
  const status = { addresses: [...addresses, { $patch: "replace" }] };
  const body = { metadata: { resourceVersion: "7" }, status };
  expect(client.writes).toMatchObject([{ verb: "patch", path, type: "strategic", body }]);
});
