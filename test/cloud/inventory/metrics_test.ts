import { expect, test } from "bun:test";
import { type ExportedInventory, exportInventory } from "../../../lib/cloud/inventory/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

test("exportInventory() shows no age before the first inventory, and each part of the last one alone", () => {
  const metrics = new MetricsRegistry();
  const source: { -readonly [K in keyof ExportedInventory]: ExportedInventory[K] } = {
    current: undefined,
    ageMs: undefined,
  };
  exportInventory(source, metrics);
  expect(metrics.render()).not.toMatch(/^landfall_inventory_(age_seconds|covered)[ {]/m);
  source.ageMs = 1_500;
  source.current = { coverage: new Map([["a", { complete: true }]]) };
  expect(metrics.render()).toContain("landfall_inventory_age_seconds 1.5\n");
  expect(metrics.render()).toContain('landfall_inventory_covered{part="a"} 1\n');
  source.current = { coverage: new Map([["b", { complete: false }]]) };
  expect(metrics.render()).toContain('landfall_inventory_covered{part="b"} 0\n');
  expect(metrics.render()).not.toContain('part="a"');
});
