import { expect, test } from "bun:test";
import { createParts } from "../../lib/app/parts.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion_guard.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { FakeProvider } from "../support/instances.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedKubeClient } from "../support/scripted_kube_client.ts";

test("createParts() only puts the parts together: nothing is asked, nothing is known", () => {
  const provider = new FakeProvider();
  const clock = new ManualClock();
  const parts = createParts({
    provider,
    client: new ScriptedKubeClient(clock),
    clock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    host: "test",
    controllers: new Set(),
    concurrentNodeSyncs: 1,
    nodeStatusUpdateFrequencyMs: 1_000,
    nodeMonitorPeriodMs: 1_000,
    deletion: DEFAULT_DELETION,
  });
  expect(parts.nodes.synced).toBe(false);
  expect(parts.source.current).toBeUndefined();
  expect(parts.source.lastAttemptMs).toBeUndefined();
});
