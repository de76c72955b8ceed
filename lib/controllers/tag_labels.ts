/**
 * Decides which labels from tags a Node gets and loses: pure and total, and nothing more once it was applied.
 *
 * An annotation records the labels that Landfall set, with their values. A label is ours as long as it has the value of
 * the record; Landfall never changes any other. Both are written at once, so a new leader knows
 * as much as the old one.
 * @module
 */
import type { Instance } from "../cloud/provider.ts";
import { isReservedLabelKey } from "../core/text/label_namespace.ts";
import { isLabelKey } from "../core/text/label.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { NodePatch } from "./node_writer.ts";
import { TAG_LABELS_RECORD } from "./words.ts";

/** What becomes of a Node's labels from tags. Absent members need no write. */
export interface TagLabelPlan {
  /** Labels to set. */
  readonly set: Readonly<Record<string, string>>;
  /** Keys of labels to remove. */
  readonly removed: readonly string[];
  /** What the annotation becomes; `null`: it goes. */
  readonly record?: string | null;
  /** Whether no tag changed, so that this only restores what another program or a person changed. */
  readonly isRepair: boolean;
  /** One sentence without full stop for each label that has another value and is not ours. */
  readonly conflicts: readonly string[];
}

/** Nothing is to be done. */
export const NO_TAG_CHANGES: TagLabelPlan = {
  set: {},
  removed: [],
  isRepair: true,
  conflicts: [],
};

/**
 * Plans the labels that the tags of an instance ask for.
 *
 * A missing label is set. One of ours follows its tag, and goes with it. Where tags contradict each other, or the cloud
 * does not report them now, everything stays.
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

/** The part of a Node's patch that such a plan asks for, together with other labels. */
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
 * Labels by key, as the annotation has them. A kubelet may write anything there, so a key that it may not touch itself
 * does not count.
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
