/**
 * Creates the long-lived parts of a process: Nodes, inventory, Events, and the chosen controllers with the election
 * for each Lease that they need. Judges whether the parts are ready and alive.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { assert } from "../core/errors.ts";
import { ALONE, Fence } from "../core/fence.ts";
import type { LabelSelector } from "../core/text/label.ts";
import { InstanceResolver, isSelected } from "../cloud/inventory/resolver.ts";
import { InventorySource } from "../cloud/inventory/source.ts";
import { NODE_SELECTION } from "../cloud/settings/sections.ts";
import type { NodeIdentity } from "../cloud/instance.ts";
import type { Provider } from "../cloud/provider.ts";
import { findSettings, type SectionValues } from "../cloud/settings/schema.ts";
import { DeletionHolds, type NodeCloud, NodePresences } from "../controllers/node_context.ts";
import {
  type ControllerContext,
  type ControllerDefinition,
  listLeases,
  type LoadedController,
  type RunningController,
} from "../controllers/definition.ts";
import { toIdentity } from "../controllers/identity.ts";
import { createLoopMetrics } from "../engine/work_queue.ts";
import { Caches, type CacheState } from "../kube/cache/caches.ts";
import { createWatcherMetrics } from "../kube/cache/watcher.ts";
import {
  createIdentity,
  createLeaderMetrics,
  LEADER_COMPONENT,
  LeaderElector,
} from "../kube/election/leader.ts";
import { createEventMetrics, EventSender } from "../kube/events/events.ts";
import { NODES } from "../kube/kinds/node.ts";
import type { Check } from "../http/probes.ts";
import { OWN_NAME } from "./announcer.ts";
import type { AppOptions } from "./options.ts";
import { Recovery } from "../kube/api/request.ts";

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
  const { provider, client, clock, log, metrics, host, flags, election } = options;
  // The watches use what the election learns about the API server.
  const { recovery = new Recovery(), fence = new Fence() } = options;
  const eventMetrics = createEventMetrics(metrics);
  const events = new EventSender({ client, host, clock, log, metrics: eventMetrics });
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
  const electors = createElectors(options, events, recovery);
  const groups = (electors.length > 0 ? electors : [undefined]).map((elector): ElectedGroup => {
    const name = elector?.lease.name;
    // A cloud waits for the Lease of the process.
    const isMain = name === election?.name;
    const own = isMain ? fence : new Fence();
    own.follow(elector ?? ALONE);
    const waiting = options.controllers.filter(
      ({ definition: { lease = election?.name } }) => elector === undefined || lease === name,
    );
    const controllers = waiting.map((one) => createController(one, own));
    return { controllers, ...(elector && { elector }) };
  });
  const noteSections = (next: SectionValues): void => {
    const before = findSelector();
    sections = next;
    // Every Node is looked at again, and those that are selected now are asked for.
    if (!isDeepStrictEqual(before, findSelector())) cloud?.source.requestRefresh(true);
  };
  const controllers = groups.flatMap((group) => group.controllers);
  const all = { caches, events, groups, electors, controllers };
  return { ...all, noteSections, ...(cloud && { cloud }) };
}

/**
 * The process is ready once the memory has everything that a decision needs. Readiness does not depend on leadership,
 * or on whether the cloud answers at the moment.
 */
export function toChecks({ caches, cloud, electors }: Parts): Check[] {
  const needed = (): readonly CacheState[] => caches.states.filter((one) => !one.isOptional);
  const kinds = new Set(needed().map(({ resource }) => resource));
  const checks = [...kinds].map((kind): Check => {
    // If a kind is not installed, only its own controller waits for it.
    const isOk = (): boolean =>
      needed().every(({ resource, synced, missing }) => resource !== kind || synced || missing);
    const note = (): string | undefined => {
      const missing = needed().find((one) => one.resource === kind && one.missing);
      return missing && `waiting for CustomResourceDefinition ${formatDefinition(missing)}`;
    };
    return { name: `${kind}-synced`, probes: ["readyz"], isOk, note };
  });
  if (cloud) {
    const isOk = (): boolean => cloud.source.current !== undefined;
    checks.push({ name: "inventory-taken", probes: ["readyz"], isOk });
  }
  // If the election is stuck, a supervisor restarts the process. The first check has the name that Kubernetes gives it.
  const ofElections = electors.map((elector, at): Check => {
    const name = at === 0 ? "leaderElection" : `leaderElection-${elector.lease.name}`;
    return { name, probes: ["healthz", "livez"], isOk: () => elector.isHealthy() };
  });
  return [...checks, ...ofElections];
}

/** The kind as `kubectl` takes it, with its version: `galleries.example.org/v1`, `nodes/v1`. */
export function formatDefinition({
  resource,
  apiVersion,
}: Pick<CacheState, "apiVersion" | "resource">): string {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined ? `${resource}/${group}` : `${resource}.${group}/${version}`;
}

/**
 * Creates an elector for each Lease that a controller waits for, the Lease of the process first. If no controller waits
 * for that one, the process does not need it. All electors have the same identity.
 */
function createElectors(
  { controllers, election, host, clock, log, metrics }: AppOptions,
  events: EventSender,
  recovery: Recovery,
): LeaderElector[] {
  const definitions = controllers.map(({ definition }) => definition);
  for (const { name, lease, needsCloud, needs = [] } of definitions) {
    const isFenced = !needsCloud || (needs.length > 0 && needs.every((one) => one === "machines"));
    assert(lease === undefined || isFenced, `${name} has a Lease that its cloud does not wait for`);
  }
  if (election === undefined) return [];
  const { client, namespace, name: own, ...times } = election;
  const shared = {
    times,
    identity: createIdentity(host),
    events: events.speakAs(LEADER_COMPONENT),
    metrics: createLeaderMetrics(metrics),
    clock,
    log,
    recovery,
  };
  return listLeases(definitions, own).map(
    (name) => new LeaderElector({ ...shared, client, lease: { namespace, name } }),
  );
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
