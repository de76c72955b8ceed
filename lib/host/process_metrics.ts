/**
 * Metrics of the process itself, under the names that every Prometheus client library uses.
 * @module
 */
import process from "node:process";
import type { Clock } from "../core/clock.ts";
import type { MetricsRegistry } from "../core/metrics.ts";

/**
 * Registers `process_start_time_seconds`, `process_resident_memory_bytes` and `process_cpu_seconds_total`; the last two
 * are measured whenever the metrics are read.
 */
export function exportProcess(metrics: MetricsRegistry, clock: Pick<Clock, "now">): void {
  const start = metrics.gauge({
    name: "process_start_time_seconds",
    help: "When the process started, in Unix seconds.",
  });
  const memory = metrics.gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process, in bytes.",
  });
  const cpu = metrics.counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the process, in seconds.",
  });
  // Read once: later it would change with every correction of the system's clock and look like a restart.
  start.set(clock.now() / 1000 - process.uptime());
  metrics.onCollect(() => {
    memory.set(process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    cpu.inc({}, Math.max(0, (user + system) / 1e6 - cpu.value()));
  });
}
