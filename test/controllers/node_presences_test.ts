import { expect, test } from "bun:test";
import { InstanceResolver } from "../../lib/cloud/inventory/resolver.ts";
import { InventorySource } from "../../lib/cloud/inventory/source.ts";
import { NodePresences } from "../../lib/controllers/node_presences.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { FakeProvider, toInstance } from "../support/cloud/instances.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { toNode } from "../support/nodes/nodes.ts";

class CountingProvider extends FakeProvider {
  looks = 0;
  override findInstance(
    ...args: Parameters<FakeProvider["findInstance"]>
  ): ReturnType<FakeProvider["findInstance"]> {
    this.looks += 1;
    return super.findInstance(...args);
  }
}

async function setUp(): Promise<{
  provider: CountingProvider;
  presences: NodePresences;
  source: InventorySource;
  refresh(): Promise<void>;
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
