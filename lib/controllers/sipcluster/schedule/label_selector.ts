/**
 * Which objects a label selector of Kubernetes matches.
 * @module
 */
import type { LabelSelector } from "../resource/sip_cluster.ts";

type Labels = Readonly<Record<string, string>>;

/** The value of a label, undefined without it. Labels may have the names of Object's own members. */
export function readLabel(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/**
 * Whether a selector matches these labels: all of its terms must hold. An empty or absent selector matches everything.
 * As in Kubernetes, `NotIn` holds for an object without the label. An unknown operator matches nothing.
 */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  for (const key in matchLabels) {
    if (readLabel(labels, key) !== matchLabels[key]) return false;
  }
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = readLabel(labels, key);
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
      default:
        return false;
    }
  });
}
