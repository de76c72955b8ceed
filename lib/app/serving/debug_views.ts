/**
 * The data of the debug pages: Nodes with their machines, load balancers, and the objects of other controllers.
 * @module
 */
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import type { DebugOptions } from "../../http/debug.ts";
import type { ObjectPages } from "../../http/object_pages.ts";
import type { NodeView } from "../../http/views.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import { toElectionView } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";
import { toInventoryView } from "./inventory_view.ts";
import { toLoadBalancerSource } from "./load_balancer_views.ts";

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
