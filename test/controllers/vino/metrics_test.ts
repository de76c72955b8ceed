import { expect, test } from "bun:test";
import { createVinoMetrics } from "../../../lib/controllers/vino/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

test("createVinoMetrics() counts changes of machines, and Vinos and machines by state", () => {
  const registry = new MetricsRegistry();
  const metrics = createVinoMetrics(registry);
  // An alert needs a rise, so the first one must be one.
  expect(registry.render()).toContain('landfall_vino_machine_changes_total{change="vanished"} 0');
  metrics.countMachine("created");
  metrics.countMachine("created");
  metrics.readFrom({
    listStates: () => ["ready", "waiting", "ready"],
    listMachineStates: () => ["Ready", "Creating", "Ready"],
  });
  const text = registry.render();
  expect(text).toContain('landfall_vino_machine_changes_total{change="created"} 2');
  expect(text).toContain('landfall_vinos{state="ready"} 2');
  expect(text).toContain('landfall_vinos{state="deleting"} 0');
  expect(text).toContain('landfall_vino_machines{state="Ready"} 2');
  expect(text).toContain('landfall_vino_machines{state="Blocked"} 0');
});
