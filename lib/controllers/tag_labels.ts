/**
 * Plans which labels from tags to set and remove on a Node. Pure and total. After a plan is applied, the next one is
 * empty.
 *
 * An annotation records the labels that Landfall set, with their values. A label is ours as long as it has the recorded
 * value. Landfall never changes other labels. One write sets labels and annotation, so a new leader knows as much as
 * the old one.
 * @module
 */
import { parseJson } from "../core/text/json.ts";
import type { Instance } from "../cloud/instance.ts";
import { isLabelKey, isReservedLabelKey } from "../core/text/label.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { NodePatch } from "./node_writer.ts";
import { TAG_LABELS_RECORD } from "./words.ts";

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
