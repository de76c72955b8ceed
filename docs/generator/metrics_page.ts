/**
 * docs/reference/metrics.md, from what the parts of Landfall register.
 * @module
 */
import { createRunningMetric, exportInstances } from "../../lib/app/app.ts";
import { createReloadMetric } from "../../lib/app/reload.ts";
import { InventorySource } from "../../lib/cloud/inventory/source.ts";
import type { Provider } from "../../lib/cloud/provider.ts";
import type { ProviderDefinition } from "../../lib/cloud/provider_definition.ts";
import type { ControllerModule } from "../../lib/controllers/definition.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { Fence } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createLoopMetrics } from "../../lib/engine/work_queue.ts";
import { createRedfishMetrics } from "../../lib/http/redfish/metrics.ts";
import { exportLog } from "../../lib/host/log_pipe.ts";
import { exportProcess } from "../../lib/host/process_metrics.ts";
import { createLeaderMetrics } from "../../lib/kube/election/leader.ts";
import { createReviewMetrics } from "../../lib/kube/access/delegated_review.ts";
import { createEventMetrics } from "../../lib/kube/events/events.ts";
import { createRequestMetrics } from "../../lib/kube/api/request.ts";
import { NODES } from "../../lib/kube/kinds/node.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import { createWatcherMetrics } from "../../lib/kube/cache/watcher.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";
import { ALL, type Registries } from "./registries.ts";

/** Renders the page. */
export function renderMetricsPage(registries: Registries): string {
  return `${GENERATED_NOTE}

# Metrics

Landfall serves them at \`/metrics\` on \`--debug-address\` and \`--secure-port\`, in the text format of Prometheus. A
metric that other cloud controller managers have, too, has the same name and meaning here. The others begin with
\`landfall_\`.

${toTable(
  ["metric", "type", "meaning"],
  listMetrics(registries).map(({ name, type, help }) => [
    toCode(name),
    type,
    help.replace(/\.?$/, ""),
  ]),
)}`;
}

/** What a metric is called, what it is, and what it tells. */
type MetricWords = ReturnType<MetricsRegistry["describe"]>[number];

/** Every metric, by name. Lets every part register what it counts; nothing runs and nothing is asked. */
export function listMetrics({ modules, providers }: Registries = ALL): readonly MetricWords[] {
  // Clouds may share what they are made of; only one runs in a process.
  const all = providers.flatMap((cloud) => listMetricsWith(cloud, modules));
  const byName = new Map(all.map((metric) => [metric.name, metric]));
  return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function listMetricsWith(
  cloud: ProviderDefinition,
  modules: readonly ControllerModule[],
): MetricWords[] {
  const metrics = new MetricsRegistry();
  exportProcess(metrics, systemClock);
  exportLog(metrics, undefined);
  createRunningMetric(metrics);
  for (const module of modules) module.registerMetrics?.(metrics);
  exportInstances(metrics, new Store({ resource: NODES, log: silentLogger }), () => ({
    kind: "foreign",
    providerId: "",
  }));
  createLoopMetrics(metrics);
  createEventMetrics(metrics);
  createRequestMetrics(metrics);
  createReviewMetrics(metrics);
  createLeaderMetrics(metrics);
  createWatcherMetrics(metrics);
  createReloadMetric(metrics);
  createRedfishMetrics(metrics);
  const provider = create(cloud, metrics);
  void new InventorySource({
    provider,
    metrics,
    interest: () => [],
    clock: systemClock,
    log: silentLogger,
  });
  return metrics.describe();
}

function create(definition: ProviderDefinition, metrics: MetricsRegistry): Provider {
  const { settings } = definition.parseConfig(definition.docs.example, {});
  if (settings === undefined) throw new TypeError(`Cannot document "${definition.name}"`);
  const { signal } = new AbortController();
  const shared = { clock: systemClock, log: silentLogger, metrics, signal };
  return definition.create(settings, { ...shared, fence: new Fence() });
}
