import { afterEach, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { type FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { type SourceRig, startSource } from "../../support/cloud/source.ts";

/** What ends after each test. */
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(prepare?: (provider: FakeProvider) => void): Promise<SourceRig> {
  const rig = await startSource(prepare);
  stops.push(rig.stop);
  return rig;
}

test("InventorySource takes an inventory at once, and again every interval", async () => {
  const { clock, provider, source } = await start((p) => p.instances.set("a", toInstance("a")));
  expect(provider.lists).toBe(1);
  expect(provider.interest).toEqual([{ name: "a" }]);
  expect(source.current?.instances.has("a")).toBe(true);
  await clock.advance(29_999);
  expect(provider.lists).toBe(1);
  expect(source.ageMs).toBe(29_999);
  await clock.advance(1);
  expect(provider.lists).toBe(2);
  expect(source.ageMs).toBe(0);
});

test("InventorySource keeps the last good inventory and its age while the cloud fails", async () => {
  const { clock, provider, source } = await start((p) => p.instances.set("a", toInstance("a")));
  provider.failure = new CloudError("denied", "401");
  await clock.advance(30_000);
  expect(source.lastError?.message).toBe("401");
  expect(source.current?.instances.has("a")).toBe(true);
  expect(source.ageMs).toBe(30_000);
  provider.failure = undefined;
  await clock.advance(1_000);
  expect(source.lastError).toBeUndefined();
  expect(source.ageMs).toBe(0);
});

test("InventorySource backs off from a failing cloud, however often it is asked", async () => {
  const { clock, provider, source } = await start((p) => {
    p.failure = new CloudError("unreachable", "down");
  });
  expect(provider.lists).toBe(1);
  for (let second = 0; second < 15; second++) {
    source.requestRefresh();
    await clock.advance(1_000);
  }
  // Tries after 1, 3, 7 and 15 seconds.
  expect(provider.lists).toBe(5);
});

test("InventorySource asks soon when settings changed, whatever the cloud asked for before", async () => {
  const { clock, provider, source } = await start((p) => {
    p.failure = new CloudError("throttled", "slow down", { retryAfterMs: 300_000 });
  });
  await clock.advance(10_000);
  provider.failure = new CloudError("denied", "401");
  source.requestRefresh();
  source.requestRefresh(true);
  await clock.advance(0);
  expect(provider.lists).toBe(2);
  // From then on as ever.
  source.requestRefresh();
  await clock.advance(1_000);
  expect(provider.lists).toBe(2);
});

test("InventorySource asks a cloud that failed for long as often as one that is well", async () => {
  const { clock, provider, source } = await start((p) => {
    p.failure = new CloudError("unreachable", "down");
  });
  await clock.advance(600_000);
  provider.failure = undefined;
  await clock.advance(provider.refreshIntervalMs);
  expect(source.lastError).toBeUndefined();
});

test("C-08 InventorySource waits as long as the cloud asks", async () => {
  const { clock, provider } = await start((p) => {
    p.failure = new CloudError("throttled", "slow down", { retryAfterMs: 45_000 });
  });
  await clock.advance(44_999);
  expect(provider.lists).toBe(1);
  await clock.advance(1);
  expect(provider.lists).toBe(2);
});

test("InventorySource answers many requests with one refresh", async () => {
  const { clock, provider, source } = await start();
  for (let i = 0; i < 1_000; i++) source.requestRefresh();
  await clock.advance(999);
  expect(provider.lists).toBe(1);
  await clock.advance(1);
  expect(provider.lists).toBe(2);
  await clock.advance(5_000);
  expect(provider.lists).toBe(2);
});

test("InventorySource takes a request that comes during a refresh as one for the next", async () => {
  const gate = Promise.withResolvers<void>();
  const { clock, provider, source } = await start((p) => {
    p.gate = gate.promise;
  });
  source.requestRefresh();
  gate.resolve();
  await clock.advance(1_000);
  expect(provider.lists).toBe(2);
});

test("InventorySource tells listeners what differs, after failures too, and survives theirs", async () => {
  const { clock, provider, source } = await start();
  const told: string[][] = [];
  source.subscribe(() => {
    throw new Error("a listener's own");
  });
  const end = source.subscribe((changed) => told.push([...changed]));
  provider.instances.set("b", toInstance("b"));
  await clock.advance(30_000);
  provider.failure = new CloudError("unreachable", "down");
  await clock.advance(30_000);
  end();
  await clock.advance(60_000);
  expect(told).toEqual([["b"], []]);
});

test("InventorySource says once that everything may differ after the first inventory by new settings", async () => {
  const { clock, provider, source } = await start((p) => p.instances.set("a", toInstance("a")));
  const told: string[] = [];
  source.subscribe((changed) =>
    told.push(changed === "everything" ? changed : [...changed].join()),
  );
  source.requestRefresh(true);
  provider.failure = new CloudError("unreachable", "down");
  await clock.advance(1_000);
  provider.failure = undefined;
  await clock.advance(30_000);
  source.requestRefresh();
  await clock.advance(1_000);
  expect(told).toEqual(["", "everything", ""]);
});

test("InventorySource takes settings that change during a refresh as those of the next", async () => {
  const { clock, provider, source } = await start();
  const told: unknown[] = [];
  source.subscribe((changed) => told.push(changed));
  const gate = Promise.withResolvers<void>();
  provider.gate = gate.promise;
  source.requestRefresh();
  await clock.advance(1_000);
  source.requestRefresh(true);
  gate.resolve();
  await clock.advance(1_000);
  expect(told).toEqual([new Set(), "everything"]);
});

test("InventorySource shows the same instances, of another revision, when settings changed", async () => {
  const { provider, source } = await start((p) => p.instances.set("a", toInstance("a")));
  const before = source.current;
  const { revision } = source;
  source.requestRefresh();
  expect([source.current, source.revision]).toEqual([before, revision]);
  source.requestRefresh(true);
  expect([source.current, source.revision]).toEqual([before, revision + 1]);
  // They change once more before anybody asked.
  source.requestRefresh(true);
  expect(source.revision).toBe(revision + 2);
  expect(provider.lists).toBe(1);
});

test("InventorySource exports results, and age and parts of the last inventory alone", async () => {
  const { clock, metrics, provider } = await start((p) => {
    p.failure = new CloudError("unreachable", "down");
  });
  expect(metrics.render()).not.toMatch(/^landfall_inventory_(age_seconds|covered)[ {]/m);
  provider.failure = undefined;
  await clock.advance(1_000);
  expect(metrics.render()).toContain("landfall_inventory_age_seconds 0\n");
  expect(metrics.render()).toContain('landfall_inventory_covered{part="cloud"} 1\n');
  const { listInventory } = provider;
  provider.listInventory = async (...asked) => ({
    ...(await listInventory.apply(provider, asked)),
    coverage: new Map([["b", { complete: false }]]),
  });
  await clock.advance(40_000);
  const text = metrics.render();
  expect(text).toContain("landfall_inventory_age_seconds 10\n");
  expect(text).toContain('landfall_inventory_covered{part="b"} 0\n');
  expect(text).not.toContain('part="cloud"');
  const counter = 'landfall_inventory_refreshes_total{provider="test",result=';
  expect(text).toContain(`${counter}"unreachable"} 1`);
  expect(text).toContain(`${counter}"ok"} 2`);
});
