/**
 * The labels of a Node: those of its instance, and those that its tags give.
 * @module
 */
import type { Instance } from "../cloud/instance.ts";
import { isLabelKey, isLabelValue, isReservedLabelKey } from "../core/text/label.ts";
import { RESERVED_LABEL, TAG_LABELS_RECORD, TOPOLOGY_LABELS } from "./words.ts";
import { parseJson } from "../core/text/values.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { NodePatch } from "./node_context.ts";

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

/** The changes to a Node's labels from tags. An absent member needs no write. */
export interface TagLabelPlan {
  /** Labels to set. */
  readonly set: Readonly<Record<string, string>>;
  /** Keys of labels to remove. */
  readonly removed: readonly string[];
  /** New value of the annotation; `null` removes it. */
  readonly record?: string | null;
  /** Whether no tag changed, so that the plan only restores labels that another program or a user changed. */
  readonly isRepair: boolean;
  /** One sentence without full stop for each label that is not ours and has another value. */
  readonly conflicts: readonly string[];
}

/** The empty plan. */
export const NO_TAG_CHANGES: TagLabelPlan = {
  set: {},
  removed: [],
  isRepair: true,
  conflicts: [],
};

/**
 * Plans the labels from the tags of an instance.
 *
 * Sets missing labels. Changes or removes a label of ours with its tag. If tags contradict each other, or the cloud
 * does not report them now, the labels stay as they are.
 */
export function planTagLabels(
  { metadata }: Node,
  { tagLabels, labels: cloudLabels }: Pick<Instance, "tagLabels" | "labels">,
): TagLabelPlan {
  const recorded = metadata.annotations?.[TAG_LABELS_RECORD];
  if (tagLabels === undefined) return NO_TAG_CHANGES;
  const wanted = new Map(Object.entries(tagLabels.labels));
  if (recorded === undefined && wanted.size === 0) return NO_TAG_CHANGES;
  const actual = new Map(Object.entries(metadata.labels ?? {}));
  const before = parseRecord(recorded);
  const after: [string, string][] = [];
  const set: Record<string, string> = {};
  const removed: string[] = [];
  const conflicts: string[] = [];
  let isRepair = true;
  for (const key of [...new Set([...wanted.keys(), ...before.keys()])].sort()) {
    if (Object.hasOwn(cloudLabels, key)) continue;
    const now = actual.get(key);
    const last = before.get(key);
    const isOurs = now === undefined || now === last;
    const value = tagLabels.unclear.includes(key) ? now : wanted.get(key);
    if (value === undefined) {
      if (now === undefined || !isOurs) continue;
      removed.push(key);
      isRepair = false;
    } else if (!isOurs) {
      if (now === value) continue;
      conflicts.push(`label ${key} is "${now}", the tag says "${value}"`);
    } else {
      after.push([key, value]);
      if (now === value) continue;
      set[key] = value;
      if (value !== last) isRepair = false;
    }
  }
  const record = after.length === 0 ? undefined : JSON.stringify(Object.fromEntries(after));
  const isRecorded = record === recorded;
  return { set, removed, ...(!isRecorded && { record: record ?? null }), isRepair, conflicts };
}

/** Builds the metadata of a Node's patch from such a plan and other labels. */
export function toMetadataPatch(
  labels: Readonly<Record<string, string>>,
  { set, removed, record }: Pick<TagLabelPlan, "set" | "removed" | "record">,
): NonNullable<NodePatch["metadata"]> {
  const all = { ...labels, ...set, ...Object.fromEntries(removed.map((key) => [key, null])) };
  return {
    ...(Object.keys(all).length > 0 && { labels: all }),
    ...(record !== undefined && { annotations: { [TAG_LABELS_RECORD]: record } }),
  };
}

/**
 * Parses the annotation into labels by key. A kubelet may write anything there, so keys that a kubelet may not write as
 * labels are ignored.
 */
function parseRecord(text: string | undefined): ReadonlyMap<string, string> {
  const record = new Map<string, string>();
  if (text === undefined) return record;
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null) return record;
  for (const [key, value] of Object.entries(parsed)) {
    const isFit = isLabelKey(key) && !isReservedLabelKey(key);
    if (isFit && typeof value === "string") record.set(key, value);
  }
  return record;
}
