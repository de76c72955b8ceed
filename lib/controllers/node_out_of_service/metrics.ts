/**
 * Metrics of the out-of-service controller.
 * @module
 */
import type { MetricsRegistry } from "../../core/metrics.ts";

/** A change of the taint. `withdrawn`: Landfall removed it because the machine was never off. */
type TaintAction = "set" | "removed" | "withdrawn";

/** The metrics of the out-of-service controller. */
export interface OutOfServiceMetrics {
  countTaint(action: TaintAction): void;
  /** Sets the source of the gauge. @param count Returns how many Nodes have the taint from Landfall */
  readFrom(count: () => number): void;
}

/** Registers the metrics of the out-of-service controller. */
export function createOutOfServiceMetrics(registry: MetricsRegistry): OutOfServiceMetrics {
  const actions = registry.counter({
    name: "landfall_out_of_service_taints_total",
    help: "Out-of-service taints that Landfall set, removed, or withdrew because the machine was never off, by action.",
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
