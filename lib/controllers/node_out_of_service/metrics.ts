/**
 * Metrics of the out-of-service controller.
 * @module
 */
import type { MetricsRegistry } from "../../core/metrics.ts";

/** What became of the taint. `withdrawn`: it was removed because the machine had never been off. */
export type TaintAction = "set" | "removed" | "withdrawn";

/** What the out-of-service controller counts. */
export interface OutOfServiceMetrics {
  countTaint(action: TaintAction): void;
  /** Asked whenever the metrics are read. @param count How many Nodes have the taint by Landfall */
  readFrom(count: () => number): void;
}

/** Registers the metrics of the out-of-service controller. */
export function createOutOfServiceMetrics(registry: MetricsRegistry): OutOfServiceMetrics {
  const actions = registry.counter({
    name: "landfall_out_of_service_taints_total",
    help: "Out-of-service taints that were set, removed, or withdrawn as the machine had never been off, by action.",
  });
  const nodes = registry.gauge({
    name: "landfall_nodes_out_of_service",
    help: "Nodes that have the out-of-service taint because Landfall set it.",
  });
  return {
    countTaint: (action) => actions.inc({ action }),
    readFrom: (count) => registry.onCollect(() => nodes.set(count())),
  };
}
