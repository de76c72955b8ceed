/**
 * Which labels a Node gets at initialisation.
 * @module
 */
import type { Instance } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { toInstanceLabels } from "../instance_labels.ts";

/** Labels to set, and what was left out. */
export interface LabelPlan {
  readonly set: Readonly<Record<string, string>>;
  /** One sentence for each label that was refused. */
  readonly refused: readonly string[];
}

/**
 * Plans the labels of a Node's first write: topology labels replace what is there, additional ones never do.
 * Only differences are set.
 */
export function planLabels(node: Node, instance: Instance): LabelPlan {
  const actual = node.metadata.labels ?? {};
  const { topology, additional, refused } = toInstanceLabels(instance);
  const set: Record<string, string> = {};
  for (const [key, value] of Object.entries(topology)) if (actual[key] !== value) set[key] = value;
  for (const [key, value] of Object.entries(additional)) {
    if (!Object.hasOwn(actual, key)) set[key] = value;
  }
  return { set, refused };
}
