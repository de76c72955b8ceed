/**
 * The long-lived parts of a process, put together: store, inventory, Events and the controllers that work on them.
 * @module
 */
import { ALONE, Fence } from "../core/fence.ts";
import { createFencedClient } from "../kube/election/fenced_client.ts";
import { InstanceResolver } from "../cloud/inventory/resolver.ts";
import { InventorySource } from "../cloud/inventory/source.ts";
import type { NodeIdentity } from "../cloud/provider.ts";
import { createControllerMetrics } from "../engine/controller.ts";
import { FULL_PASS_FLAG, readFlag } from "../controllers/flags.ts";
import { toIdentity } from "../controllers/identity.ts";
import type { NodeContext } from "../controllers/node_loop.ts";
import { NodePresences } from "../controllers/node_presences.ts";
import { createNodeMetrics, NODE_COMPONENT, NodeController } from "../controllers/node/mod.ts";
import { LABELS_COMPONENT, NodeLabelController } from "../controllers/node_labels/mod.ts";
import { MONITOR_FLAG } from "../controllers/node_lifecycle/definition.ts";
import {
  createLifecycleMetrics,
  LIFECYCLE_COMPONENT,
  NodeLifecycleController,
} from "../controllers/node_lifecycle/mod.ts";
import { createWorkQueueMetrics } from "../engine/work_queue_metrics.ts";
import { WrittenVersions } from "../engine/written_versions.ts";
import { createEventMetrics, createEventSender, type EventSender } from "../kube/events/events.ts";
import { Recovery } from "../kube/api/recovery.ts";
import { type Node, NODES } from "../kube/kinds/node.ts";
import { Store } from "../kube/cache/store.ts";
import type { LeaderElector } from "../kube/election/leader.ts";
import { createElector } from "./leadership.ts";
import type { AppOptions } from "./options.ts";

/** The long-lived parts of a process. Nothing runs yet. */
export interface Parts {
  readonly nodes: Store<Node>;
  readonly source: InventorySource;
  readonly presences: NodePresences;
  readonly events: EventSender;
  /** What the election learns of the API server, for the watch. */
  readonly recovery: Recovery;
  /** Absent: nobody is elected, the controllers run at once. */
  readonly elector?: LeaderElector;
  readonly node: NodeController;
  readonly labels: NodeLabelController;
  readonly lifecycle: NodeLifecycleController;
}

/** Creates the parts and wires them to each other. */
export function createParts(options: AppOptions): Parts {
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
  options.announcer?.connect(events.speakAs(provider.name));
  const { recovery = new Recovery(), fence = new Fence() } = options;
  const elector = createElector(options, { events, recovery });
  fence.follow(elector ?? ALONE);
  const shared = {
    client: createFencedClient(client, fence),
    nodes,
    provider,
    source,
    resolver,
    presences,
    written: new WrittenVersions(),
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
  const fullPassIntervalMs = readFlag(options.flags, FULL_PASS_FLAG);
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
    monitorPeriodMs: readFlag(options.flags, MONITOR_FLAG),
  });
  const parts = { nodes, source, presences, events, recovery, node, labels, lifecycle };
  return elector === undefined ? parts : { ...parts, elector };
}
