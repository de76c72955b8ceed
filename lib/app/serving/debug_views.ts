/**
 * The data of the debug pages: Nodes with their machines, load balancers, and the objects of other controllers.
 * @module
 */
import { toElectionView } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";
import { describeObjects, type NamedView } from "./served_objects.ts";
import type { InventorySource } from "../../cloud/inventory/source.ts";
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { DebugOptions } from "../../http/debug.ts";
import type { LoadBalancerSource, LoadBalancerView } from "../../http/load_balancers/views.ts";
import type { ObjectPages } from "../../http/object_pages.ts";
import type { InventoryView, NodeView } from "../../http/views.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { SERVICES } from "../../kube/kinds/service.ts";

/**
 * Reads the parts for the debug pages. A Node comes with the answer of the cloud and the details of each controller.
 */
export function toDebugOptions(
  { clock, host }: AppOptions,
  { cloud, controllers, electors }: Parts & Required<Pick<Parts, "cloud">>,
): DebugOptions {
  const { nodes, source, resolver, presences, provider } = cloud;
  const ofNodes = controllers.filter(({ definition }) => definition.kind === NODES);
  const describe = (node: Node): NodeView => {
    const presence = resolver.explain(toIdentity(node), presences.find(node));
    const state = describeNode(node, presence, provider);
    const view: NodeView = { ...state, lastReconcile: null, ready: readyStatus(node) };
    for (const { controller } of ofNodes) Object.assign(view, controller.describe?.(node));
    return view;
  };
  const loadBalancers = toLoadBalancerSource(controllers);
  return {
    ...(loadBalancers && { loadBalancers }),
    *listNodes() {
      for (const name of [...nodes.keys()].sort()) {
        const node = nodes.get(name);
        if (node) yield describe(node);
      }
    },
    findNode: (name) => {
      const node = nodes.get(name);
      return node && describe(node);
    },
    readInventory: () => toInventoryView(source, clock),
    readStatus: () => {
      // With a cloud the first Lease is that of the process.
      const [election, ...moreElections] = electors.map(toElectionView);
      return { provider: provider.name, host, ...(election && { election, moreElections }) };
    },
    now: () => clock.now(),
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

/** Reads the controller of Services. Absent: none of the chosen ones works on them. */
export function toLoadBalancerSource(chosen: Parts["controllers"]): LoadBalancerSource | undefined {
  const { controller } = chosen.find(({ definition }) => definition.kind === SERVICES) ?? {};
  if (controller === undefined) return undefined;
  const services = describeObjects<Omit<LoadBalancerView, keyof NamedView>>(controller, {
    state: "working",
    addresses: [],
    ports: [],
    parts: [],
    problems: [],
    steps: [],
    lastReconcile: null,
  });
  return (
    services && {
      ...services,
      listLeftovers: () => controller.listLeftovers?.() ?? [],
      listPools: () => controller.listPools?.() ?? [],
    }
  );
}
