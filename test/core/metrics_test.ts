/**
 * Metrics and how they are written out.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { MetricsRegistry, setCounts } from "../../lib/core/metrics.ts";

describe("MetricsRegistry", () => {
  test("writes counters by their labels, in whatever order those are given", () => {
    const metrics = new MetricsRegistry();
    const counter = metrics.counter({ name: "things_total", help: "Things" });
    counter.inc({ b: "2", a: "1" });
    counter.inc({ a: "1", b: "2" }, 4);
    counter.inc();
    expect(metrics.render()).toBe(
      '# HELP things_total Things\n# TYPE things_total counter\nthings_total{a="1",b="2"} 5\nthings_total 1\n',
    );
    expect([counter.value({ a: "1", b: "2" }), counter.value({ a: "9" })]).toEqual([5, 0]);
  });

  test("escapes label values", () => {
    const metrics = new MetricsRegistry();
    metrics.gauge({ name: "g", help: "G" }).set(1, { l: 'a"b\\c\nd' });
    expect(metrics.render()).toContain('g{l="a\\"b\\\\c\\nd"} 1\n');
  });

  test("lets a gauge be set, set again and cleared", () => {
    const metrics = new MetricsRegistry();
    const gauge = metrics.gauge({ name: "g", help: "G" });
    gauge.set(2, { a: "1" });
    gauge.set(3, { a: "1" });
    expect(gauge.value({ a: "1" })).toBe(3);
    gauge.clear();
    expect(metrics.render()).toBe("# HELP g G\n# TYPE g gauge\n");
  });

  test("counts observations into every bucket they fit in", () => {
    const metrics = new MetricsRegistry();
    const histogram = metrics.histogram({ name: "h", help: "H", buckets: [1, 5] });
    for (const value of [0.5, 1, 3, 100]) histogram.observe(value, { v: "x" });
    expect(metrics.render()).toBe(
      [
        "# HELP h H",
        "# TYPE h histogram",
        'h_bucket{le="1",v="x"} 2',
        'h_bucket{le="5",v="x"} 3',
        'h_bucket{le="+Inf",v="x"} 4',
        'h_sum{v="x"} 104.5',
        'h_count{v="x"} 4\n',
      ].join("\n"),
    );
    expect([histogram.count({ v: "x" }), histogram.count()]).toEqual([4, 0]);
  });

  test("collects before it renders", () => {
    const metrics = new MetricsRegistry();
    const gauge = metrics.gauge({ name: "g", help: "G" });
    let value = 1;
    metrics.onCollect(() => gauge.set(value));
    expect(metrics.render()).toContain("g 1\n");
    value = 2;
    expect(metrics.render()).toContain("g 2\n");
  });

  test("describes what is registered, by name", () => {
    const metrics = new MetricsRegistry();
    metrics.histogram({ name: "b", help: "B" });
    metrics.counter({ name: "a_total", help: "A" });
    expect(metrics.describe()).toEqual([
      { name: "a_total", type: "counter", help: "A" },
      { name: "b", type: "histogram", help: "B" },
    ]);
  });

  test("refuses a second owner of a name", () => {
    const metrics = new MetricsRegistry();
    metrics.gauge({ name: "g", help: "G" });
    expect(() => metrics.counter({ name: "g", help: "G" })).toThrow('Cannot register metric "g"');
  });
});

test("setCounts() counts what was found, and shows nothing of the last time", () => {
  const registry = new MetricsRegistry();
  const gauge = registry.gauge({ name: "things", help: "Things by state." });
  setCounts(gauge, "state", ["old", "ready"], ["ready", "failing"]);
  setCounts(gauge, "state", ["ready", "ready", "odd"], ["ready", "failing"]);
  const lines = registry
    .render()
    .split("\n")
    .filter((line) => line.startsWith("things{"));
  expect(lines.toSorted()).toEqual([
    'things{state="failing"} 0',
    'things{state="odd"} 1',
    'things{state="ready"} 2',
  ]);
});
