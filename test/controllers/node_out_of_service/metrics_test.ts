import { expect, test } from "bun:test";
import { createOutOfServiceMetrics } from "../../../lib/controllers/node_out_of_service/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

test("createOutOfServiceMetrics() counts by action, and reads how many Nodes are out of service", () => {
  const registry = new MetricsRegistry();
  const metrics = createOutOfServiceMetrics(registry);
  metrics.countTaint("set");
  metrics.countTaint("set");
  metrics.countTaint("withdrawn");
  metrics.readFrom(() => 3);
  const lines = registry.render().split("\n");
  expect(lines).toContain('landfall_out_of_service_taints_total{action="set"} 2');
  expect(lines).toContain('landfall_out_of_service_taints_total{action="withdrawn"} 1');
  expect(lines).toContain("landfall_nodes_out_of_service 3");
});
