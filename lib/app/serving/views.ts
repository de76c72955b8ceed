/**
 * The data of the debug pages: the process, Nodes with their machines, load balancers, SIPClusters, Vinos, and the
 * objects of other controllers. The app knows controllers not by name, but by what they offer. Reads only memory.
 * @module
 */
import {
  type MachinesView,
  parseMachineName,
  toOwnerPrefix,
} from "../../cloud/capabilities/machines.ts";
import type { InventorySource } from "../../cloud/inventory/source.ts";
import type { RunningController } from "../../controllers/definition.ts";
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import { VERSION } from "../../cli/version.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Hono } from "hono";
import type { DebugOptions } from "../../http/debug.ts";
import type { LoadBalancerSource, LoadBalancerView } from "../../http/load_balancers/views.ts";
import type { ObjectPages } from "../../http/object_pages.ts";
import { createPages } from "../../http/pages.ts";
import type { SipClusterSource, SipClusterView } from "../../http/sip_clusters/views.ts";
import type {
  ElectionView,
  InventoryView,
  NodeView,
  ProcessView,
  ServingView,
} from "../../http/views.ts";
import type { CloudMachineView, CloudView, VinoSource, VinoView } from "../../http/vinos/views.ts";
import type { CacheState } from "../../kube/cache/caches.ts";
import type { LeaderElector } from "../../kube/election/leader.ts";
import { toKey } from "../../kube/cache/store.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import type { AppOptions } from "../options.ts";
import { type ChosenController, formatDefinition, type Parts } from "../parts.ts";

/** The pages of a process, without its probes. */
export function createProcessPages(options: AppOptions, parts: Parts): Hono {
  const { cloud, controllers } = parts;
  return createPages({
    now: () => options.clock.now(),
    version: VERSION,
    debug: cloud && toDebugOptions(options, { ...parts, cloud }),
    loadBalancers: cloud && toLoadBalancerSource(parts),
    readProcess: () => toProcessView(options, parts),
    sipClusters: toSipClusterSource(parts),
    vinos: toVinoSource(parts),
    objects: listObjectPages(controllers),
    configz: options.configz,
  });
}

/** Describes the process: who leads, which controllers run, and which kinds they read. */
export function toProcessView(
  { host }: Pick<AppOptions, "host">,
  { caches, electors, groups }: Pick<Parts, "caches" | "electors" | "groups">,
): ProcessView {
  return {
    host,
    elections: electors.map(toElectionView),
    controllers: groups.flatMap(({ elector, controllers }) =>
      controllers.map(({ definition: { name } }) => ({
        name,
        ...(elector && { lease: elector.lease.name }),
        isRunning: elector?.isLeading ?? true,
      })),
    ),
    kinds: caches.states.map((state) => ({
      kind: formatDefinition(state),
      ...(state.selection !== undefined && { selection: state.selection }),
      state: toState(state),
    })),
  };
}

/** Describes who leads, as text for operators. */
function toElectionView({ lease, identity, holder, isLeading }: LeaderElector): ElectionView {
  return { lease: lease.name, identity, holder: holder ?? "", isLeading };
}

function toState({ synced, missing }: CacheState): ProcessView["kinds"][number]["state"] {
  if (missing) return "missing";
  return synced ? "synced" : "waiting";
}

/**
 * Reads the parts for the debug pages. A Node comes with the answer of the cloud and the details of each controller.
 */
export function toDebugOptions(
  { clock, host }: AppOptions,
  parts: Parts & Required<Pick<Parts, "cloud">>,
): DebugOptions {
  const { cloud, controllers, electors } = parts;
  const { nodes, source, resolver, presences, provider } = cloud;
  const ofNodes = controllers.filter(({ definition }) => definition.kind === NODES);
  const describe = (node: Node): NodeView => {
    const presence = resolver.explain(toIdentity(node), presences.find(node));
    const state = describeNode(node, presence, provider);
    const view: NodeView = { ...state, lastReconcile: null, ready: readyStatus(node) };
    for (const { controller } of ofNodes) Object.assign(view, controller.describe?.(node));
    return { ...view, ...listEvents(parts, node) };
  };
  const findNode = (name: string): NodeView | undefined => {
    const node = nodes.get(name);
    return node && describe(node);
  };
  return {
    *listNodes() {
      for (const name of [...nodes.keys()].sort()) {
        const view = findNode(name);
        if (view) yield view;
      }
    },
    findNode,
    readInventory: () => toInventoryView(source, clock),
    readStatus: () => {
      // With a cloud the first Lease is that of the process.
      const [election, ...moreElections] = electors.map(toElectionView);
      return { provider: provider.name, host, ...(election && { election, moreElections }) };
    },
  };
}

/** Lists the objects of controllers that work on kinds without pages of their own. */
export function listObjectPages(chosen: Parts["controllers"]): ObjectPages[] {
  return chosen.flatMap(({ definition, controller }): ObjectPages[] => {
    const { objects, listHosts, observeMachines } = controller;
    const isPaged = [listHosts, observeMachines].some((one) => one !== undefined);
    if (objects === undefined || isPaged || definition.kind === SERVICES) return [];
    const find = (key: string): object | undefined => {
      const object = objects.get(key);
      if (object === undefined) return undefined;
      const { name, namespace } = object.metadata;
      return { name, ...(namespace && { namespace }), ...controller.describe?.(object) };
    };
    return [{ plural: definition.kind.plural, keys: () => objects.keys(), find }];
  });
}

/** Describes the inventory in use, and its last refreshes. */
export function toInventoryView(source: InventorySource, clock: Clock): InventoryView {
  const { current, ageMs, lastError, lastDurationMs } = source;
  return {
    ageSeconds: ageMs === undefined ? null : Math.round(ageMs) / 1_000,
    ...(ageMs === undefined ? {} : { observedAt: new Date(clock.now() - ageMs).toISOString() }),
    coverage: [...(current?.coverage ?? [])].map(([id, part]) => ({ id, ...part })),
    counts: {
      instances: current?.instances.size ?? 0,
      undecodable: current?.undecodable.size ?? 0,
    },
    ...(lastError === undefined ? {} : { lastError: describeError(lastError) }),
    ...(lastDurationMs === undefined ? {} : { lastRefreshDurationMs: Math.round(lastDurationMs) }),
  };
}

/** What of an object every view has. */
interface NamedView {
  readonly namespace: string;
  readonly name: string;
}

/** The objects of a controller as it describes them, and how this process serves them. */
interface ServedObjects<T> {
  readonly controller: RunningController;
  /** By `namespace/name`. */
  find(key: string): (NamedView & T) | undefined;
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<NamedView & T>;
  /** Whether this process works on them, and what it waits for. */
  readServing(): ServingView;
}

/** Where the controllers of a process are, and what they read. */
type Served = Pick<Parts, "caches" | "events" | "groups">;

/** What this process wrote about an object, if it wrote anything. */
function listEvents(
  { events }: Pick<Parts, "events">,
  object: KubeObject,
): Pick<NodeView, "events"> {
  const recent = events.recent.list(object);
  return recent.length === 0 ? {} : { events: recent };
}

/**
 * Finds the controller with objects that offers what the pages need.
 *
 * @param offers Whether a controller does
 * @param empty What a view has until the controller describes more
 * @returns `undefined` if none of the chosen ones does
 */
function findServedObjects<T extends object>(
  { caches, groups, events }: Served,
  offers: (chosen: ChosenController) => boolean,
  empty: T,
): ServedObjects<T> | undefined {
  for (const { elector, controllers } of groups) {
    const chosen = controllers.find(offers);
    if (chosen?.controller.objects === undefined) continue;
    const { controller, definition } = chosen;
    const { objects } = chosen.controller;
    const find = (key: string): (NamedView & T) | undefined => {
      const object = objects.get(key);
      const description = object && controller.describe?.(object);
      if (object === undefined || description === undefined) return undefined;
      const { namespace = "", name } = object.metadata;
      return Object.assign(
        { namespace, name, ...empty },
        description,
        listEvents({ events }, object),
      );
    };
    const kinds = new Set(
      definition.watches.map(({ plural, apiVersion }) => `${apiVersion} ${plural}`),
    );
    return {
      controller,
      find,
      *list() {
        for (const key of [...objects.keys()].sort()) {
          const view = find(key);
          if (view !== undefined) yield view;
        }
      },
      readServing: () => ({
        ...(elector && { election: toElectionView(elector) }),
        missing: caches.states
          .filter(({ missing }) => missing)
          .filter(({ apiVersion, resource }) => kinds.has(`${apiVersion} ${resource}`))
          .map(formatDefinition),
      }),
    };
  }
  return undefined;
}

/** Reads the controller of Services. Absent: none of the chosen ones works on them. */
export function toLoadBalancerSource(parts: Served): LoadBalancerSource | undefined {
  const served = findServedObjects<Omit<LoadBalancerView, keyof NamedView>>(
    parts,
    ({ definition }) => definition.kind === SERVICES,
    {
      state: "working",
      addresses: [],
      ports: [],
      parts: [],
      problems: [],
      steps: [],
      lastReconcile: null,
    },
  );
  if (served === undefined) return undefined;
  const { controller, ...objects } = served;
  return {
    ...objects,
    listLeftovers: () => controller.listLeftovers?.() ?? [],
    listPools: () => controller.listPools?.() ?? [],
  };
}

/** Reads the controller whose objects share hosts. Absent: none of the chosen ones has hosts. */
export function toSipClusterSource(parts: Served): SipClusterSource | undefined {
  const served = findServedObjects<Omit<SipClusterView, keyof NamedView>>(
    parts,
    ({ controller }) => controller.listHosts !== undefined,
    {
      state: "working",
      roles: [],
      conditions: [],
      notes: [],
      breaches: [],
      endpoints: [],
      topologyKeys: [],
      lastReconcile: null,
    },
  );
  if (served === undefined) return undefined;
  const { controller, ...objects } = served;
  return {
    ...objects,
    *listHosts() {
      for (const { key, ...host } of controller.listHosts?.() ?? []) {
        const [namespace = "", name = ""] = key.split("/");
        yield { namespace, name, ...host };
      }
    },
  };
}

/** Reads the controller whose objects are machines of the cloud. Absent: none of the chosen ones makes machines. */
export function toVinoSource(parts: Served): VinoSource | undefined {
  const offers = ({ controller }: ChosenController): boolean =>
    controller.observeMachines !== undefined;
  const served = findServedObjects<Omit<VinoView, keyof NamedView>>(parts, offers, {
    state: "working",
    wanted: 0,
    ready: 0,
    machines: [],
    conditions: [],
    lastReconcile: null,
  });
  if (served === undefined) return undefined;
  const { controller, ...objects } = served;
  return {
    ...objects,
    readCloud: async (signal) => {
      const view = await controller.observeMachines?.(signal);
      return view && addSeen(toCloudView(view, listOwners(controller.objects)), objects.list());
    },
    listPools: () => controller.listPools?.() ?? [],
  };
}

/** Keys of objects by the beginning of the names of their machines. */
function listOwners(objects: RunningController["objects"]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const key of objects?.keys() ?? []) {
    const object = objects?.get(key);
    const uid = object?.metadata.uid;
    if (object && uid !== undefined) owners.set(toOwnerPrefix({ uid }), toKey(object));
  }
  return owners;
}

/** Looks show machines that the last inventory does not have yet: otherwise a page would contradict itself. */
function addSeen(cloud: CloudView, vinos: Iterable<VinoView>): CloudView {
  const shown = new Set(cloud.machines.map(({ name }) => name));
  const hosts = new Map(cloud.hosts.map((one) => [one.id, one]));
  const seen = [...vinos].flatMap(({ namespace, name: vino, machines }) =>
    machines.flatMap((machine): CloudMachineView[] => {
      const { name, machineId: id, host: hostId = "", power, state } = machine;
      const poolId = hosts.get(hostId)?.poolId;
      if (shown.has(name) || id === undefined || power === undefined || poolId === undefined) {
        return [];
      }
      const isComplete = state === "Ready";
      return [{ name, id, poolId, hostId, power, isComplete, vino: `${namespace}/${vino}` }];
    }),
  );
  return { ...cloud, machines: [...cloud.machines, ...seen].toSorted(byName) };
}

function byName(one: CloudMachineView, other: CloudMachineView): number {
  return one.name < other.name ? -1 : 1;
}

function toCloudView(view: MachinesView, owners: ReadonlyMap<string, string>): CloudView {
  const machines = [...view.machines].flatMap(([name, some]) => {
    const vino = owners.get(parseMachineName(name)?.ownerPrefix ?? "");
    return some.map((one): CloudMachineView => {
      const { id, poolId, power, isComplete } = one;
      const hostId = one.hostId ?? one.firstHostId;
      return {
        name,
        id,
        poolId,
        power,
        isComplete,
        ...(hostId !== undefined && { hostId }),
        ...(vino !== undefined && { vino }),
      };
    });
  });
  return {
    pools: view.pools,
    hosts: view.hosts.map(({ id, name, poolId, isEnabled }) => ({ id, name, poolId, isEnabled })),
    machines: machines.toSorted(byName),
  };
}
