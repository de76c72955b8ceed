/**
 * Composition root: wires one provider, one API server and the controllers, and runs them until stopped.
 * @module
 */
import { LABELS_NAME } from "../controllers/node_labels/mod.ts";
import { LIFECYCLE_NAME } from "../controllers/node_lifecycle/mod.ts";
import { NODE_NAME } from "../controllers/node/mod.ts";
import { NODES } from "../kube/kinds/node.ts";
import { createWatcherMetrics, runWatcher } from "../kube/cache/watcher.ts";
import { abortable } from "../core/abortable.ts";
import type { Gauge } from "../core/metrics.ts";
import { runLeading } from "./leadership.ts";
import { announceFirstFailure } from "./first_check.ts";
import { startListeners } from "./serving/listeners.ts";
import { createRunningMetric, exportInstances } from "./metrics.ts";
import type { AppOptions } from "./options.ts";
import { createParts, type Parts } from "./parts.ts";
import { createReloadMetric, runReload } from "./reload.ts";
import { supervise } from "./supervision.ts";

export type { AppOptions } from "./options.ts";

/** How long requests may take to end after everything else has stopped. */
const HTTP_GRACE_MS = 1_000;

/**
 * Runs until the signal aborts and what was under way has ended. With an election the controllers wait for leadership;
 * what they live on does not, so that they act as soon as they have it.
 *
 * @throws {LeadershipLostError} when another process may act from now on: this one is of no use any more
 * @throws {ConfigError} when an address cannot be listened at
 */
export async function runApp(options: AppOptions, signal: AbortSignal): Promise<void> {
  const parts = createParts(options);
  const servers = await startListeners(options, parts, signal);
  // What controllers need to finish (the watch, the inventory, Events) outlives them.
  const background = new AbortController();
  const loops = runBackground(options, parts, background.signal);
  const running = createRunningMetric(options.metrics);
  exportInstances(options.metrics, parts.nodes, (node) => parts.presences.find(node));
  if (options.controllers.has(LIFECYCLE_NAME)) parts.lifecycle.standBy();
  const supervised = supervise(options, parts, AbortSignal.any([signal, background.signal]));
  const work = (stop: AbortSignal): Promise<void> => {
    supervised.notice();
    return runControllers(options, parts, running, stop);
  };
  try {
    await Promise.race([runLeading(parts.elector, work, signal), loops]);
  } finally {
    background.abort(signal.reason);
    const stopping = servers.map((server) => server.stop(HTTP_GRACE_MS));
    await Promise.allSettled([loops, supervised.ended, ...stopping]);
    options.client.close();
    options.election?.client.close();
  }
}

/** Everything that controllers live on: the watch of Nodes, the inventory, Events. Ends by the signal alone. */
async function runBackground(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, log, metrics, announcer, configuration, provider } = options;
  const { nodes, source, events, lifecycle, recovery } = parts;
  if (announcer) announceFirstFailure(source, announcer, provider.name);
  const success = createReloadMetric(metrics);
  const shared = { provider, source, lifecycle, announcer, clock, log, success };
  await Promise.all([
    configuration && runReload({ ...shared, configuration }, signal),
    runWatcher(
      {
        client,
        resource: NODES,
        store: nodes,
        clock,
        log,
        recovery,
        metrics: createWatcherMetrics(metrics),
      },
      signal,
    ),
    source.run(signal),
    events.run(signal),
  ]);
}

async function runControllers(
  { controllers }: AppOptions,
  { node, labels, lifecycle }: Parts,
  running: Gauge,
  signal: AbortSignal,
): Promise<void> {
  const known = {
    [NODE_NAME]: node,
    [LABELS_NAME]: labels,
    [LIFECYCLE_NAME]: lifecycle,
  };
  const chosen = Object.entries(known).filter(([name]) => controllers.has(name));
  for (const [name] of chosen) running.set(1, { name, manager: "cloud-controller-manager" });
  // Without any, the pages are still served.
  if (chosen.length === 0) return await untilAborted(signal);
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  await Promise.all(
    chosen.map(([, controller]) =>
      controller.run(stop).catch((error: unknown) => broken.abort(error)),
    ),
  );
  broken.signal.throwIfAborted();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return abortable(new Promise<never>(() => {}), signal).catch(() => undefined);
}
