/**
 * Turns an instance into the labels of its Node.
 * @module
 */
import type { Instance } from "../cloud/instance.ts";
import { isLabelKey, isLabelValue } from "../core/text/label.ts";
import { RESERVED_LABEL, TOPOLOGY_LABELS } from "./words.ts";

/** The labels of an instance. Labels whose value the cloud does not know now are missing. */
interface InstanceLabels {
  /** Region, zone and instance type, each with its beta twin. */
  readonly topology: Readonly<Record<string, string>>;
  /** The labels that only this cloud sets. */
  readonly additional: Readonly<Record<string, string>>;
  /** One sentence for each label that Kubernetes would refuse. Landfall does not write it. */
  readonly refused: readonly string[];
}

/** Turns an instance into labels that the API server accepts. */
export function toInstanceLabels(instance: Instance): InstanceLabels {
  const topology: Record<string, string> = {};
  const additional: Record<string, string> = {};
  const refused: string[] = [];
  for (const kind of ["instanceType", "zone", "region"] as const) {
    const own = kind === "region" ? instance.regionLabel : undefined;
    const value = own ?? instance[kind];
    if (!value) continue;
    const keys = TOPOLOGY_LABELS[kind];
    if (isLabelValue(value)) for (const key of keys) topology[key] = value;
    else refused.push(`${keys[0]}="${value}" is not a valid label`);
  }
  for (const [key, value] of Object.entries(instance.labels)) {
    if (isReserved(key)) refused.push(`${key} is reserved for Kubernetes`);
    else if (!isLabelKey(key) || !isLabelValue(value))
      refused.push(`${key}="${value}" is not a valid label`);
    else additional[key] = value;
  }
  return { topology, additional, refused };
}

/**
 * Looks for the plain text first: the regular expression alone takes several times as long, for each label of each
 * Node.
 */
function isReserved(key: string): boolean {
  return (key.includes("kubernetes.io/") || key.includes("k8s.io/")) && RESERVED_LABEL.test(key);
}
