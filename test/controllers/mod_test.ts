/**
 * What holds of every controller, whatever it does.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listSections, loadControllers } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { loadProviders } from "../../lib/providers/mod.ts";

const LOADED = await loadControllers(CONTROLLERS);

test("CONTROLLERS have names, aliases and Event components that nobody else has", () => {
  const names = CONTROLLERS.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(CONTROLLERS.map(({ component }) => component)).size).toBe(CONTROLLERS.length);
});

test("CONTROLLERS that bring a flag of one name bring the same flag", () => {
  const flags = CONTROLLERS.flatMap((one) => one.flags);
  const names = new Set(flags.map(({ name }) => name));
  expect(new Set(flags).size).toBe(names.size);
});

test("CONTROLLERS that need something of a cloud need a cloud", () => {
  for (const { needs = [], needsCloud } of CONTROLLERS)
    expect(needsCloud || needs.length === 0).toBe(true);
});

test("CONTROLLERS that bring a section of one key bring the same section", () => {
  const sections = listSections(CONTROLLERS);
  expect(new Set(sections.map(({ key }) => key)).size).toBe(sections.length);
});

test("CONTROLLERS bring no setting that a provider has, too", async () => {
  const sections = listSections(CONTROLLERS);
  const paths = sections.flatMap(({ key, settings }) => [key, ...settings.map(({ path }) => path)]);
  for (const { name, settings } of await loadProviders()) {
    const own = new Set(settings.map(({ path }) => path));
    expect([name, paths.filter((path) => own.has(path))]).toEqual([name, []]);
  }
});

describe.each(CONTROLLERS.map((one) => [one.name, one] as const))("%s", (_name, definition) => {
  test("writes no two Events of one reason", () => {
    const reasons = Object.values(definition.events).map(({ reason }) => reason);
    expect(new Set(reasons).size).toBe(reasons.length);
  });

  test("registers its metrics in a registry that has those of the others", async () => {
    const metrics = new MetricsRegistry();
    for (const { module } of LOADED) module.registerMetrics?.(metrics);
    const before = metrics.describe().length;
    const { registerMetrics } = await definition.load();
    if (registerMetrics) expect(() => registerMetrics(metrics)).toThrow();
    expect(metrics.describe()).toHaveLength(before);
  });
});
