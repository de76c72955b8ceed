import { expect, test } from "bun:test";
import type { PoolUsage } from "../../../lib/cloud/pools/usage.ts";
import { createServiceMetrics } from "../../../lib/controllers/service/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

test("createServiceMetrics() has the metrics of the Go controller, and the states of load balancers", () => {
  const registry = new MetricsRegistry();
  const metrics = createServiceMetrics(registry);
  metrics.countSync();
  metrics.countNodeFailure();
  metrics.noteHostUpdate(3_000);
  metrics.noteNodePass(4_000);
  let pools: readonly PoolUsage[] = [
    { pool: "a", family: "IPv4", used: 3, total: 4 },
    { pool: "a", family: "IPv6", used: 0, total: 2 ** 64 },
  ];
  metrics.readFrom({
    listStates: () => ["ready", "ready", "failing"],
    readOldestPendingMs: () => 9_000,
    countLeftovers: () => 4,
    listPools: () => pools,
  });
  const page = registry.render();
  for (const line of [
    "service_controller_loadbalancer_sync_total 1",
    "service_controller_nodesync_error_total 1",
    'service_controller_update_loadbalancer_host_latency_seconds_bucket{le="2"} 0',
    'service_controller_update_loadbalancer_host_latency_seconds_bucket{le="4"} 1',
    'service_controller_nodesync_latency_seconds_bucket{le="16384"} 1',
    'landfall_load_balancers{state="ready"} 2',
    'landfall_load_balancers{state="working"} 0',
    'landfall_load_balancers{state="failing"} 1',
    "landfall_load_balancer_pending_seconds 9",
    "landfall_load_balancer_leftovers 4",
    'landfall_address_pool_addresses{family="IPv4",pool="a"} 4',
    'landfall_address_pool_addresses_used{family="IPv4",pool="a"} 3',
    'landfall_address_pool_addresses{family="IPv6",pool="a"} 18446744073709552000',
    'landfall_address_pool_addresses_used{family="IPv6",pool="a"} 0',
  ]) {
    expect(page).toContain(line);
  }
  pools = [];
  expect(registry.render()).not.toContain('pool="a"');
});
