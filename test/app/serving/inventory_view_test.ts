import { expect, test } from "bun:test";
import { toInventoryView } from "../../../lib/app/serving/inventory_view.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { ManualClock } from "../../support/manual_clock.ts";

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
