import { expect, test } from "bun:test";
import type { FleetReading } from "../../../lib/cloud/deletion/guard.ts";
import { createLifecycleMetrics } from "../../../lib/controllers/node_lifecycle/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

const FLEET: FleetReading = {
  sizeAtStart: 12,
  missing: 2,
  deleted: 1,
  affected: 3,
  limit: 4,
  isExceeded: false,
};

function listSamples(registry: MetricsRegistry): string[] {
  return registry
    .render()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .toSorted();
}

test("createLifecycleMetrics() counts deletions by result", () => {
  const registry = new MetricsRegistry();
  const metrics = createLifecycleMetrics(registry);
  metrics.countDeletion("deleted");
  metrics.countDeletion("deleted");
  metrics.countDeletion("failed");
  expect(listSamples(registry)).toEqual([
    'landfall_node_deletions_total{result="deleted"} 2',
    'landfall_node_deletions_total{result="failed"} 1',
  ]);
});

test("readFrom() asks whenever the metrics are read, and drops reasons that hold no more", () => {
  const registry = new MetricsRegistry();
  let blocked = ["fleetLimit", "denied", "fleetLimit"];
  createLifecycleMetrics(registry).readFrom({
    readFleet: () => FLEET,
    listBlocked: () => blocked,
  });
  expect(listSamples(registry)).toEqual([
    "landfall_fleet_limit 4",
    "landfall_fleet_missing 3",
    'landfall_node_deletions_blocked{reason="denied"} 1',
    'landfall_node_deletions_blocked{reason="fleetLimit"} 2',
  ]);
  blocked = ["unconfirmed"];
  expect(listSamples(registry)).toEqual([
    "landfall_fleet_limit 4",
    "landfall_fleet_missing 3",
    'landfall_node_deletions_blocked{reason="unconfirmed"} 1',
  ]);
});
