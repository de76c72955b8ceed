import { expect, test } from "bun:test";
import { createNodeMetrics } from "../../../lib/controllers/node/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { toNode } from "../../support/nodes/nodes.ts";

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
