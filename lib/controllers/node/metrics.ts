/**
 * Metrics of the node controller. Those that upstream has keep their upstream names.
 * @module
 */
import type { MetricsRegistry } from "../../core/metrics.ts";
import type { Node } from "../../kube/kinds/node.ts";

/** The metrics of the node controller. */
export interface NodeMetrics {
  /** @param nowMs Wall-clock time of the write that removed the taint */
  observeTaintRemoval(node: Node, nowMs: number): void;
  /** @param nowMs Wall-clock time when the Node was initialised, including its addresses */
  observeInitialSync(node: Node, nowMs: number): void;
}

const BUCKETS_SECONDS = [1, 4, 16, 64, 256, 1024];

/** Registers the metrics of the node controller. */
export function createNodeMetrics(registry: MetricsRegistry): NodeMetrics {
  const taintRemoval = registry.histogram({
    name: "node_controller_cloud_provider_taint_removal_delay_seconds",
    help: "Seconds from the creation of a Node to the removal of its uninitialized taint.",
    buckets: BUCKETS_SECONDS,
  });
  const initialSync = registry.histogram({
    name: "node_controller_initial_node_sync_delay_seconds",
    help: "Seconds from the creation of a Node to the end of its initialisation.",
    buckets: BUCKETS_SECONDS,
  });
  return {
    observeTaintRemoval: (node, nowMs) => taintRemoval.observe(toAgeSeconds(node, nowMs)),
    observeInitialSync: (node, nowMs) => initialSync.observe(toAgeSeconds(node, nowMs)),
  };
}

function toAgeSeconds(node: Node, nowMs: number): number {
  const createdMs = Date.parse(node.metadata.creationTimestamp ?? "");
  return Number.isNaN(createdMs) ? 0 : Math.max(0, (nowMs - createdMs) / 1_000);
}
