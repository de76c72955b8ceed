/**
 * Which labels a Node gets at initialisation, and how beta labels and their stable twins are kept alike.
 * @module
 */
import type { Instance } from "../../cloud/provider.ts";
import { isLabelKey, isLabelValue } from "../../core/label.ts";
import type { Node } from "../../kube/resource.ts";
import { RESERVED_LABEL, TOPOLOGY_LABELS } from "./words.ts";

/** Labels to set, and what was left out. */
export interface LabelPlan {
  readonly set: Readonly<Record<string, string>>;
  /** One sentence for each label that was refused. */
  readonly refused: readonly string[];
}

/** The topology labels of an instance with their twins; what is not known, or no legal value, is left out. */
export function toTopologyLabels(instance: Instance): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const kind of ["instanceType", "zone", "region"] as const) {
    const value = instance[kind];
    if (!value || !isLabelValue(value)) continue;
    for (const key of TOPOLOGY_LABELS[kind]) labels[key] = value;
  }
  return labels;
}

/**
 * Plans the labels of a Node's first write: topology labels replace what is there, additional ones never do.
 * Only differences are set.
 */
export function planLabels(node: Node, instance: Instance): LabelPlan {
  const actual = node.metadata.labels ?? {};
  const refused: string[] = [];
  const set: Record<string, string> = {};
  for (const kind of ["instanceType", "zone", "region"] as const) {
    const value = instance[kind];
    if (value && !isLabelValue(value))
      refused.push(`${TOPOLOGY_LABELS[kind][0]}="${value}" is no legal label`);
  }
  for (const [key, value] of Object.entries(toTopologyLabels(instance))) {
    if (actual[key] !== value) set[key] = value;
  }
  for (const [key, value] of Object.entries(instance.labels)) {
    if (RESERVED_LABEL.test(key)) refused.push(`${key} is in a namespace of Kubernetes`);
    else if (!isLabelKey(key) || !isLabelValue(value))
      refused.push(`${key}="${value}" is no legal label`);
    else if (actual[key] === undefined) set[key] = value;
  }
  return { set, refused };
}

/**
 * Stable labels that differ from their beta twin, which is the one that counts (contract of `k8s.io/cloud-provider`).
 * A beta label that is absent changes nothing.
 */
export function planTwinLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [stable, beta] of Object.values(TOPOLOGY_LABELS)) {
    const value = labels[beta];
    if (value !== undefined && labels[stable] !== value) set[stable] = value;
  }
  return set;
}
