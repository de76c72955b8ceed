/**
 * What the debug pages show: Nodes and their cloud, and the objects of other controllers.
 * @module
 */
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import type { DebugOptions } from "../../http/debug.ts";
import type { ObjectPages } from "../../http/object_pages.ts";
import type { NodeView } from "../../http/views.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { toElectionView } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";
import { toInventoryView } from "./inventory_view.ts";

/** Lets the debug pages read the parts. Of a Node they show what the cloud says, and what each controller adds. */
export function toDebugOptions(
  { clock, host }: AppOptions,
  { cloud, controllers, elector }: Parts & Required<Pick<Parts, "cloud">>,
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
  return {
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
    readStatus: () => ({
      provider: provider.name,
      host,
      ...(elector && { election: toElectionView(elector) }),
    }),
    now: () => clock.now(),
  };
}

/** The objects of controllers that work on another kind than Nodes. */
export function listObjectPages(chosen: Parts["controllers"]): ObjectPages[] {
  return chosen.flatMap(({ definition, controller }): ObjectPages[] => {
    const { objects } = controller;
    if (objects === undefined) return [];
    const find = (key: string): object | undefined => {
      const object = objects.get(key);
      if (object === undefined) return undefined;
      const { name, namespace } = object.metadata;
      return { name, ...(namespace && { namespace }), ...controller.describe?.(object) };
    };
    return [{ plural: definition.kind.plural, keys: () => objects.keys(), find }];
  });
}
