import { expect, test } from "bun:test";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createSipClusterMetrics } from "../../../lib/controllers/sipcluster/metrics.ts";

test("createSipClusterMetrics() counts hosts by change and clusters by state, states without clusters as 0", () => {
  const registry = new MetricsRegistry();
  const metrics = createSipClusterMetrics(registry);
  metrics.countHost("taken");
  metrics.countHost("taken");
  metrics.countHost("lost");
  metrics.readFrom({ listStates: () => ["ready", "unschedulable", "ready"] });
  const text = registry.render();
  expect(text).toContain('landfall_sipcluster_host_changes_total{change="taken"} 2');
  expect(text).toContain('landfall_sipcluster_host_changes_total{change="lost"} 1');
  expect(text).toContain('landfall_sipclusters{state="ready"} 2');
  expect(text).toContain('landfall_sipclusters{state="unschedulable"} 1');
  expect(text).toContain('landfall_sipclusters{state="deleting"} 0');
});
