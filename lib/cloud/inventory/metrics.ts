/**
 * How old the inventory in use is, and what it covers, as metrics.
 * @module
 */
import type { MetricsRegistry } from "../../core/metrics.ts";
import type { Inventory } from "./inventory.ts";

/** What the metrics read. */
export interface ExportedInventory {
  /** Absent until there was one. */
  readonly current: Pick<Inventory, "coverage"> | undefined;
  /** Milliseconds since it was observed; absent without one. */
  readonly ageMs: number | undefined;
}

/** Registers the gauges. They are read from `source` when they are collected. */
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
