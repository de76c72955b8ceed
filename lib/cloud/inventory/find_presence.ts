/**
 * What an inventory says about the machine of a Node, for every cloud and by the settings of every cloud. Pure.
 * @module
 */
import { type LabelSelector, matchesLabels } from "../../core/text/label_selector.ts";
import type { NodeIdentity } from "../instance.ts";
import type { Presence, Provider } from "../provider.ts";
import type { Inventory } from "./inventory.ts";
import { judgeOtherMachine } from "./other_machine.ts";

/** What {@linkcode findPresence} goes by. */
export interface PresenceSources {
  readonly provider: Pick<Provider, "findInstance" | "toInstanceId">;
  readonly inventory: Inventory | undefined;
  /** The Nodes that Landfall manages, as in `NodeSelection`. */
  readonly selector: LabelSelector;
}

const NO_INVENTORY: Presence = {
  kind: "unknown",
  reason: "noInventory",
  message: "Landfall has not taken an inventory of the cloud yet",
};

const UNSELECTED: Presence = {
  kind: "foreign",
  isUnselected: true,
  message: 'its labels do not match "nodes.selector": Landfall leaves this Node alone',
};

/** Whether Landfall manages a Node. */
export function isSelected({ labels = {} }: NodeIdentity, selector: LabelSelector): boolean {
  return matchesLabels(selector, labels);
}

/** Finds a Node's machine; never returns `absent`. */
export function findPresence(
  node: NodeIdentity,
  { provider, inventory, selector }: PresenceSources,
): Presence {
  if (!isSelected(node, selector)) return UNSELECTED;
  if (inventory === undefined) return NO_INVENTORY;
  return judgeOtherMachine(provider.findInstance(inventory, node), node, { provider, inventory });
}
