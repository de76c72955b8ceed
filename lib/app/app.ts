/**
 * Composition root: wires one provider, one API server and the controllers, and runs them until stopped.
 * @module
 */
import { createRunningMetric, exportInstances } from "./metrics.ts";
import { InventorySource } from "../cloud/inventory_source.ts";
import type { NodeIdentity, Provider } from "../cloud/provider.ts";
import type { DeletionSettings } from "../cloud/deletion_guard.ts";
import { InstanceResolver } from "../cloud/instance_resolver.ts";
import {
  createControllerMetrics,
  createLifecycleMetrics,
  createNodeMetrics,
  LABELS_COMPONENT,
  LIFECYCLE_COMPONENT,
  NODE_COMPONENT,
  type NodeContext,
  NodeController,
  NodeLabelController,
  NodeLifecycleController,
  NodePresences,
  SupersededVersions,
  toIdentity,
} from "../controllers/mod.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import { createWorkQueueMetrics } from "../core/work_queue_metrics.ts";
import type { DebugOptions } from "../http/debug.ts";
import type { NodeView } from "../http/views.ts";
import { createPages } from "../http/pages.ts";
import { formatListenAddress, type ListenAddress } from "../http/listen_address.ts";
import type { Check } from "../http/probes.ts";
import { type Handler, type HttpServer, startHttpServer } from "../http/server.ts";
import type { KubeClient } from "../kube/client.ts";
import { createEventMetrics, createEventSender, type EventSender } from "../kube/events.ts";
import { type Node, NODES } from "../kube/resource.ts";
import { Store } from "../kube/store.ts";
import { toInventoryView } from "./inventory_view.ts";
import { createWatcherMetrics, runWatcher } from "../kube/watcher.ts";

/** What the process is made of and how it runs. */
export interface AppOptions {
  readonly provider: Provider;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Name of this host, for Events. */
  readonly host: string;
  /** Names of the controllers that run. */
  readonly controllers: ReadonlySet<string>;
  /** How many Nodes are worked on at once. */
  readonly concurrentNodeSyncs: number;
  /** How often every Node is looked at, whatever happens, in milliseconds. */
  readonly nodeStatusUpdateFrequencyMs: number;
  /** How often the lifecycle of every Node is looked at, in memory, in milliseconds. */
  readonly nodeMonitorPeriodMs: number;
  /** When a Node whose machine is gone may be deleted. */
  readonly deletion: DeletionSettings;
  /** Where probes, metrics and debug pages are served; absent: nowhere. */
  readonly debugAddress?: ListenAddress;
  /** Where probes and metrics alone are served; absent: nowhere. */
  readonly probeAddress?: ListenAddress;
  /** Told once `debugAddress` is served, with the port that it really has. */
  readonly onDebugListening?: (address: ListenAddress) => void;
}

/** How long requests may take to end after everything else has stopped. */
const HTTP_GRACE_MS = 1_000;
/** Longest delay that a timer takes, about 24.8 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs until the signal aborts and what was under way has ended.
 *
 * @throws {ConfigError} when an address cannot be listened at
 */
export async function runApp(options: AppOptions, signal: AbortSignal): Promise<void> {
  const parts = createParts(options);
  const servers = await startServers(options, parts, signal);
  // What controllers need to finish (the watch, the inventory, Events) outlives them.
  const background = new AbortController();
  const loops = runBackground(options, parts, background.signal);
  try {
    await Promise.race([runControllers(options, parts, signal), loops]);
  } finally {
    background.abort(signal.reason);
    await Promise.allSettled([loops, ...servers.map((server) => server.stop(HTTP_GRACE_MS))]);
    options.provider.close?.();
    options.client.close();
  }
}

/** The long-lived parts of a process. */
interface Parts {
  readonly nodes: Store<Node>;
  readonly source: InventorySource;
  readonly presences: NodePresences;
  readonly events: EventSender;
  readonly node: NodeController;
  readonly labels: NodeLabelController;
  readonly lifecycle: NodeLifecycleController;
}

function createParts(options: AppOptions): Parts {
  const { provider, client, clock, log, metrics, host } = options;
  const nodes = new Store<Node>({ resource: NODES, log });
  const interest = (): NodeIdentity[] => [...nodes.values()].map(toIdentity);
  const source = new InventorySource({ provider, interest, clock, log, metrics });
  const resolver = new InstanceResolver(provider, source, clock);
  const presences = new NodePresences(resolver, source);
  const events = createEventSender({
    client,
    host,
    clock,
    log,
    metrics: createEventMetrics(metrics),
  });
  const shared = {
    client,
    nodes,
    provider,
    source,
    resolver,
    presences,
    superseded: new SupersededVersions(),
    clock,
    log,
    queueMetrics: createWorkQueueMetrics(metrics),
    controllerMetrics: createControllerMetrics(metrics),
    workers: options.concurrentNodeSyncs,
  };
  const contextFor = (component: string): NodeContext => ({
    ...shared,
    events: events.speakAs(component),
  });
  const fullPassIntervalMs = options.nodeStatusUpdateFrequencyMs;
  const node = new NodeController({
    context: contextFor(NODE_COMPONENT),
    metrics: createNodeMetrics(metrics),
    fullPassIntervalMs,
  });
  const labels = new NodeLabelController({
    context: contextFor(LABELS_COMPONENT),
    fullPassIntervalMs,
  });
  const lifecycle = new NodeLifecycleController({
    context: contextFor(LIFECYCLE_COMPONENT),
    deletion: options.deletion,
    metrics: createLifecycleMetrics(metrics),
    monitorPeriodMs: options.nodeMonitorPeriodMs,
  });
  return { nodes, source, presences, events, node, labels, lifecycle };
}

/** Everything that controllers live on: the watch of Nodes, the inventory, Events. Ends by the signal alone. */
async function runBackground(
  { client, clock, log, metrics }: AppOptions,
  { nodes, source, events }: Parts,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([
    runWatcher(
      { client, resource: NODES, store: nodes, clock, log, metrics: createWatcherMetrics(metrics) },
      signal,
    ),
    source.run(signal),
    events.run(signal),
  ]);
}

async function runControllers(
  { controllers, clock, metrics }: AppOptions,
  { nodes, presences, node, labels, lifecycle }: Parts,
  signal: AbortSignal,
): Promise<void> {
  const running = createRunningMetric(metrics);
  exportInstances(metrics, nodes, (node) => presences.find(node));
  const known = {
    "cloud-node": node,
    "cloud-node-label-sync": labels,
    "cloud-node-lifecycle": lifecycle,
  };
  const chosen = Object.entries(known).filter(([name]) => controllers.has(name));
  for (const [name] of chosen) running.set(1, { name, manager: "cloud-controller-manager" });
  // Without any, the pages are still served.
  if (chosen.length === 0) return await untilAborted(clock, signal);
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  await Promise.all(
    chosen.map(([, controller]) =>
      controller.run(stop).catch((error: unknown) => broken.abort(error)),
    ),
  );
  broken.signal.throwIfAborted();
}

async function startServers(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<HttpServer[]> {
  const { clock, log, metrics, debugAddress, probeAddress } = options;
  const probes = { checks: toChecks(parts), renderMetrics: () => metrics.render() };
  const servers: HttpServer[] = [];
  const listen = async (
    address: ListenAddress,
    handler: Handler,
    flag: string,
  ): Promise<HttpServer> => {
    const server = await startHttpServer({ address, handler, flag, clock, log, signal });
    log.info("Listening", { address: formatListenAddress(server.address), flag });
    servers.push(server);
    return server;
  };
  if (probeAddress) await listen(probeAddress, createPages({ probes, log }), "--secure-port");
  if (debugAddress) {
    const debug = toDebugOptions(options, parts);
    const pages = createPages({ probes, debug, log });
    const { address } = await listen(debugAddress, pages, "--debug-address");
    options.onDebugListening?.(address);
  }
  return servers;
}

/** Ready once everything is in memory that a decision needs; not whether the cloud answers just now. */
function toChecks({ nodes, source }: Parts): Check[] {
  return [
    { name: "nodes-synced", probes: ["readyz"], isOk: () => nodes.synced },
    { name: "inventory-taken", probes: ["readyz"], isOk: () => source.current !== undefined },
  ];
}

function toDebugOptions({ clock }: AppOptions, parts: Parts): DebugOptions {
  const { nodes, source } = parts;
  const describe = (node: Node): NodeView => ({
    ...parts.node.describe(node),
    ...parts.lifecycle.describe(node),
  });
  return {
    listNodes: () => [...nodes.values()].map(describe),
    findNode: (name) => {
      const node = nodes.get(name);
      return node && describe(node);
    },
    readInventory: () => toInventoryView(source, clock),
    now: () => clock.now(),
  };
}

function untilAborted(clock: Clock, signal: AbortSignal): Promise<void> {
  return clock.sleep(MAX_TIMER_MS, signal).catch(() => undefined);
}
