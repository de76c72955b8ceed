/**
 * Metrics of the lifecycle controller.
 * @module
 */
import type { FleetReading } from "../../cloud/deletion/guard.ts";
import type { MetricsRegistry } from "../../core/metrics.ts";

/** What the lifecycle controller counts. */
export interface LifecycleMetrics {
  countDeletion(result: "deleted" | "failed"): void;
  /** Asked whenever the metrics are read. */
  readFrom(source: {
    readFleet(): FleetReading;
    /** Reasons why Nodes are kept though their machines are not shown, one for each Node. */
    listBlocked(): Iterable<string>;
  }): void;
}

/** Registers the metrics of the lifecycle controller. */
export function createLifecycleMetrics(registry: MetricsRegistry): LifecycleMetrics {
  const deletions = registry.counter({
    name: "landfall_node_deletions_total",
    help: "Nodes that were deleted because their machines are gone, by result.",
  });
  const blocked = registry.gauge({
    name: "landfall_node_deletions_blocked",
    help: "Nodes that are not Ready, that Landfall keeps, and whose machines the cloud does not show, by reason.",
  });
  const missing = registry.gauge({
    name: "landfall_fleet_missing",
    help: "Nodes of this Landfall whose machines are missing, Ready or not, and recently deleted Nodes.",
  });
  const limit = registry.gauge({
    name: "landfall_fleet_limit",
    help: "Limit of landfall_fleet_missing. Above it, Landfall deletes no Node.",
  });
  return {
    countDeletion: (result) => deletions.inc({ result }),
    readFrom: (source) =>
      registry.onCollect(() => {
        const fleet = source.readFleet();
        missing.set(fleet.affected);
        limit.set(fleet.limit);
        blocked.clear();
        const counts = new Map<string, number>();
        for (const reason of source.listBlocked()) {
          counts.set(reason, (counts.get(reason) ?? 0) + 1);
        }
        for (const [reason, count] of counts) blocked.set(count, { reason });
      }),
  };
}
