/**
 * Creates the long-lived parts of a process: Nodes, inventory, Events, and the chosen controllers.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { ALONE, Fence } from "../core/fence.ts";
import type { LabelSelector } from "../core/text/label.ts";
import { InstanceResolver, isSelected } from "../cloud/inventory/resolver.ts";
import { InventorySource } from "../cloud/inventory/source.ts";
import { NODE_SELECTION } from "../cloud/settings/sections.ts";
import type { NodeIdentity } from "../cloud/instance.ts";
import type { Provider } from "../cloud/provider.ts";
import { findSettings, type SectionValues } from "../cloud/settings/schema.ts";
import type { ControllerContext, NodeCloud } from "../controllers/context.ts";
import type { ControllerDefinition, RunningController } from "../controllers/definition.ts";
import { DeletionHolds } from "../controllers/deletion_holds.ts";
import { toIdentity } from "../controllers/identity.ts";
import type { LoadedController } from "../controllers/load.ts";
import { NodePresences } from "../controllers/node_presences.ts";
import { createLoopMetrics } from "../engine/work_queue.ts";
import { Recovery } from "../kube/api/recovery.ts";
import { Caches } from "../kube/cache/caches.ts";
import { createWatcherMetrics } from "../kube/cache/watcher.ts";
import type { LeaderElector } from "../kube/election/leader.ts";
import { createEventMetrics, createEventSender, type EventSender } from "../kube/events/events.ts";
import { NODES } from "../kube/kinds/node.ts";
import { groupByLease } from "./leadership.ts";
import type { AppOptions } from "./options.ts";
import { OWN_NAME } from "./announcer.ts";

/** A chosen controller. */
export interface ChosenController {
  readonly definition: ControllerDefinition;
  readonly controller: RunningController;
}

/** Controllers that wait for the same Lease. */
export interface ElectedGroup {
  /** Absent without election: the controllers run immediately. */
  readonly elector?: LeaderElector;
  readonly controllers: readonly ChosenController[];
}

/** The long-lived parts of a process. Nothing runs yet. */
export interface Parts {
  /** Absent without a cloud. */
  readonly cloud?: NodeCloud;
  /** The caches that the controllers asked for, and that of Nodes if there is a cloud. */
  readonly caches: Caches;
  readonly events: EventSender;
  /** All controllers by the Lease that they wait for; first those that wait for the Lease of the process. */
  readonly groups: readonly ElectedGroup[];
  /** The electors of the groups, in their order; none without election. */
  readonly electors: readonly LeaderElector[];
  /** The controllers of all groups. */
  readonly controllers: readonly ChosenController[];
  /** Takes changed settings of sections. Called before the controllers get them. */
  readonly noteSections: (sections: SectionValues) => void;
}

/** Creates the parts and connects them. */
export function createParts(options: AppOptions): Parts {
  const { provider, client, clock, log, metrics, host, flags } = options;
  // The watches use what the election learns about the API server.
  const { recovery = new Recovery(), fence = new Fence() } = options;
  const eventMetrics = createEventMetrics(metrics);
  const events = createEventSender({ client, host, clock, log, metrics: eventMetrics });
  const ownEvents = events.speakAs(provider?.name ?? OWN_NAME);
  options.announcer?.connect(ownEvents);
  const watching = { recovery, clock, log, metrics: createWatcherMetrics(metrics) };
  const caches = new Caches({ client, ...watching, events: ownEvents });
  let { sections } = options;
  const findSelector = (): LabelSelector =>
    (findSettings(NODE_SELECTION, sections) ?? NODE_SELECTION.standard).selector;
  const cloud = provider && createNodeCloud(provider, { ...options, caches, findSelector });
  const loopMetrics = createLoopMetrics(metrics);
  const createController = (
    { definition, module }: LoadedController,
    own: Fence,
  ): ChosenController => {
    const context: ControllerContext = {
      client: caches.follow(client.fencedBy(own)),
      fence: own,
      ...(cloud && definition.needsCloud && { cloud }),
      settings: findSettings(definition.section, sections),
      findSettings: (section) => findSettings(section, sections) ?? section.standard,
      events: events.speakAs(definition.component),
      caches,
      flags,
      clock,
      log,
      metrics,
      loopMetrics,
    };
    return { definition, controller: module.create(context) };
  };
  const planned = groupByLease(options, { events, recovery });
  const elected = planned.map(({ elector, isMain, controllers }): ElectedGroup => {
    const own = isMain ? fence : new Fence();
    own.follow(elector ?? ALONE);
    const created = controllers.map((one) => createController(one, own));
    return { controllers: created, ...(elector && { elector }) };
  });
  const noteSections = (next: SectionValues): void => {
    const before = findSelector();
    sections = next;
    // Every Node is looked at again, and those that are selected now are asked for.
    if (!isDeepStrictEqual(before, findSelector())) cloud?.source.requestRefresh(true);
  };
  const electors = elected.flatMap(({ elector }) => elector ?? []);
  const controllers = elected.flatMap((group) => group.controllers);
  const all = { caches, events, groups: elected, electors, controllers };
  return { ...all, noteSections, ...(cloud && { cloud }) };
}

interface NodeCloudOptions extends AppOptions {
  readonly caches: Caches;
  readonly findSelector: () => LabelSelector;
}

function createNodeCloud(
  provider: Provider,
  { caches, findSelector, clock, log, metrics, concurrentNodeSyncs: workers }: NodeCloudOptions,
): NodeCloud {
  const nodes = caches.reader(NODES);
  const interest = (): NodeIdentity[] => {
    const selector = findSelector();
    return [...nodes.values()].map(toIdentity).filter((node) => isSelected(node, selector));
  };
  const source = new InventorySource({ provider, interest, clock, log, metrics });
  const resolver = new InstanceResolver(provider, source, clock, findSelector);
  const presences = new NodePresences(resolver, source);
  const holds = new DeletionHolds();
  return { nodes, provider, source, resolver, presences, workers, holds };
}
