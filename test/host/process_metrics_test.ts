import { describe, expect, test } from "bun:test";
import { systemClock } from "../../lib/core/clock.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { exportProcess } from "../../lib/host/process_metrics.ts";

describe("exportProcess()", () => {
  test("keeps the time of the start when the system's clock is corrected", () => {
    const metrics = new MetricsRegistry();
    const clock = { nowMs: 1_000_000, now: () => clock.nowMs };
    exportProcess(metrics, clock);
    const before = readValues(metrics)["process_start_time_seconds"];
    clock.nowMs -= 5_000;
    expect(readValues(metrics)["process_start_time_seconds"]).toBe(before ?? 0);
  });

  test("measures the process that it runs in", () => {
    const metrics = new MetricsRegistry();
    exportProcess(metrics, systemClock);
    const values = readValues(metrics);
    expect(values["process_resident_memory_bytes"]).toBeGreaterThan(1e6);
    expect(values["process_cpu_seconds_total"]).toBeGreaterThan(0);
    const later = readValues(metrics)["process_cpu_seconds_total"] ?? 0;
    const { user, system } = process.cpuUsage();
    expect(later).toBeWithin(
      values["process_cpu_seconds_total"] ?? 0,
      (user + system) / 1e6 + 1e-6,
    );
    const now = systemClock.now() / 1000;
    expect(values["process_start_time_seconds"]).toBeWithin(now - 3600, now);
  });
});

function readValues(metrics: MetricsRegistry): Record<string, number> {
  const lines = metrics
    .render()
    .split("\n")
    .filter((line) => /^\w/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", value = ""] = line.split(" ");
      return [name, Number(value)];
    }),
  );
}
