/**
 * Metrics of the process as a whole.
 * @module
 */
import type { Presence } from "../cloud/provider.ts";
import type { Gauge, MetricsRegistry } from "../core/metrics.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { StoreReader } from "../kube/cache/store.ts";

/** Registers `running_managed_controllers`, the upstream gauge that is 1 for each controller that runs. */
export function createRunningMetric(metrics: MetricsRegistry): Gauge {
  return metrics.gauge({
    name: "running_managed_controllers",
    help: "1 for each controller that runs in this process.",
  });
}

/** Registers `landfall_instances`: the number of Nodes by presence. Counts when the metrics are read. */
export function exportInstances(
  metrics: MetricsRegistry,
  nodes: StoreReader<Node>,
  find: (node: Node) => Presence,
): void {
  const instances = metrics.gauge({
    name: "landfall_instances",
    help: "Nodes by the presence of their instances: present, absent, unknown or foreign.",
  });
  metrics.onCollect(() => {
    const counts: Record<Presence["kind"], number> = {
      present: 0,
      absent: 0,
      unknown: 0,
      foreign: 0,
    };
    for (const node of nodes.values()) counts[find(node).kind] += 1;
    for (const [presence, count] of Object.entries(counts)) instances.set(count, { presence });
  });
}
