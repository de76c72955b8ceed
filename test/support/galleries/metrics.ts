/**
 * Metrics of the example controller.
 * @module
 */
import type { Counter, MetricsRegistry } from "../../../lib/core/metrics.ts";

/** Registers the metrics of the example controller. */
export function createGalleryMetrics(registry: MetricsRegistry): { readonly written: Counter } {
  return {
    written: registry.counter({
      name: "example_catalogues_written_total",
      help: "Catalogues that were written.",
    }),
  };
}
