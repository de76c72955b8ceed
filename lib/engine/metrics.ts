/**
 * The metrics of queues and reconciles.
 * @module
 */
import type { Counter, Gauge, Histogram, MetricsRegistry } from "../core/metrics.ts";

/** Metrics that all loops of a process share. The label `name` tells the queues apart, `controller` the reconciles. */
export interface LoopMetrics {
  /** Reconciles that ended. */
  readonly reconciles: Counter;
  /** Keys that wait for a worker. */
  readonly depth: Gauge;
  /** Added keys, without those that were waiting already. */
  readonly adds: Counter;
  /** Keys delayed to a later time. */
  readonly retries: Counter;
  /** Seconds from taken in to handed out. */
  readonly queueDuration: Histogram;
  /** Seconds from handed out to done. */
  readonly workDuration: Histogram;
}

const BUCKETS: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

/**
 * Registers the metrics of loops. Call it once for a registry and hand the result to every loop.
 *
 * Names and buckets of those of queues are those of client-go's `workqueue` package
 * (k8s.io/component-base/metrics/prometheus/workqueue).
 */
export function createLoopMetrics(registry: MetricsRegistry): LoopMetrics {
  return {
    reconciles: registry.counter({
      name: "landfall_reconciles_total",
      help: "Reconciles that ended, by controller and outcome.",
    }),
    depth: registry.gauge({ name: "workqueue_depth", help: "Keys that wait in the queue." }),
    adds: registry.counter({ name: "workqueue_adds_total", help: "Keys added to the queue." }),
    retries: registry.counter({
      name: "workqueue_retries_total",
      help: "Keys delayed to a later time.",
    }),
    queueDuration: registry.histogram({
      name: "workqueue_queue_duration_seconds",
      help: "Seconds a key waited in the queue.",
      buckets: BUCKETS,
    }),
    workDuration: registry.histogram({
      name: "workqueue_work_duration_seconds",
      help: "Seconds the work on a key took.",
      buckets: BUCKETS,
    }),
  };
}
