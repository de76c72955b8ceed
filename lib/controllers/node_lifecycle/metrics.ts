/**
 * Metrics of the lifecycle controller.
 * @module
 */
import type { FleetReading } from "../../cloud/deletion/fleet_limit.ts";
import { type MetricsRegistry, setCounts } from "../../core/metrics.ts";

/** The metrics of the lifecycle controller. */
export interface LifecycleMetrics {
  countDeletion(result: "deleted" | "failed"): void;
  /** Sets the source of the gauges. Each collection reads it. */
  readFrom(source: {
    readFleet(): FleetReading;
    /** Lists one reason for each Node that Landfall keeps although the cloud does not show its machine. */
    listBlocked(): Iterable<string>;
  }): void;
}

/** Registers the metrics of the lifecycle controller. */
export function createLifecycleMetrics(registry: MetricsRegistry): LifecycleMetrics {
  const deletions = registry.counter({
    name: "landfall_node_deletions_total",
    help: "Deletions of Nodes whose machines are gone, by result.",
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
        setCounts(blocked, "reason", source.listBlocked());
      }),
  };
}
