/**
 * Which objects a label selector of Kubernetes matches.
 * @module
 */
import { matchesLabels, type Requirement } from "../../../core/text/label.ts";
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
  const wanted = Object.entries(matchLabels).map(([key, value]) => toIn(key, [value]));
  for (const { key, operator, values = [] } of matchExpressions) {
    const term = TERMS.get(operator)?.(key, values);
    if (term === undefined) return () => false;
    wanted.push(term);
  }
  return (labels) => matchesLabels(wanted, labels);
}

type Term = (key: string, values: readonly string[]) => Requirement;

const toIn: Term = (key, values) => ({ key, isNegated: false, values: new Set(values) });
const TERMS: ReadonlyMap<string, Term> = new Map<string, Term>([
  ["In", toIn],
  ["NotIn", (key, values) => ({ key, isNegated: true, values: new Set(values) })],
  ["Exists", (key) => ({ key, isNegated: false })],
  ["DoesNotExist", (key) => ({ key, isNegated: true })],
]);
