/**
 * Which objects a label selector of Kubernetes matches.
 * @module
 */
import type { LabelSelector } from "../resource/sip_cluster.ts";

type Labels = Readonly<Record<string, string>>;

/** The value of a label, undefined without it. Labels may have the names of Object's own members. */
export function readLabel(labels: Labels, key: string): string | undefined {
  const value = labels[key];
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns whether a selector matches labels: all of its terms must hold. An empty or absent selector matches
 * everything. As in Kubernetes, `NotIn` holds for an object without the label. An unknown operator matches nothing.
 */
export function toMatcher(selector: LabelSelector | undefined): (labels: Labels) => boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const wanted = Object.entries(matchLabels);
  const hasLabels = (labels: Labels): boolean => {
    for (const [key, value] of wanted) if (labels[key] !== value) return false;
    return true;
  };
  if (matchExpressions.length === 0) return hasLabels;
  return (labels) =>
    hasLabels(labels) && matchExpressions.every((expression) => holds(expression, labels));
}

type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

function holds({ key, operator, values = [] }: Expression, labels: Labels): boolean {
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
}
