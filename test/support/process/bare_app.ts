/**
 * What a process is made of that has nothing to do: no machine, no Node, no controller.
 * @module
 */
import type { AppOptions } from "../../../lib/app/options.ts";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { FakeProvider } from "../cloud/instances.ts";
import { ManualClock } from "../manual_clock.ts";
import { ScriptedKubeClient } from "../kube/scripted_kube_client.ts";

/** Options of such a process, and what of them is to be otherwise. */
export function toBareApp(changes: Partial<AppOptions> = {}): AppOptions {
  const clock = changes.clock ?? new ManualClock();
  return {
    provider: new FakeProvider(),
    client: new ScriptedKubeClient(clock),
    clock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    host: "test",
    controllers: [],
    concurrentNodeSyncs: 1,
    flags: { "node-status-update-frequency": 1_000, "node-monitor-period": 1_000 },
    sections: new Map([[DELETION.key, DEFAULT_DELETION]]),
    ...changes,
  };
}
