/**
 * Metrics for the age and the coverage of the inventory in use.
 * @module
 */
import type { MetricsRegistry } from "../../core/metrics.ts";
import type { Inventory } from "./inventory.ts";

/** The source of the metrics. */
export interface ExportedInventory {
  /** Absent before the first inventory. */
  readonly current: Pick<Inventory, "coverage"> | undefined;
  /** Milliseconds since it was observed; absent without one. */
  readonly ageMs: number | undefined;
}

/** Registers the gauges. Each collection reads `source`. */
export function exportInventory(source: ExportedInventory, metrics: MetricsRegistry): void {
  const age = metrics.gauge({
    name: "landfall_inventory_age_seconds",
    help: "Seconds since the inventory in use was observed; absent before the first.",
  });
  const covered = metrics.gauge({
    name: "landfall_inventory_covered",
    help: "1 when a part of the cloud (a pool, a file) answered in full, else 0.",
  });
  metrics.onCollect(() => {
    const { current, ageMs } = source;
    if (ageMs !== undefined) age.set(ageMs / 1_000);
    covered.clear();
    for (const [part, { complete }] of current?.coverage ?? []) {
      covered.set(complete ? 1 : 0, { part });
    }
  });
}
