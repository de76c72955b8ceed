/**
 * Turns the tags of an instance into Node labels. Pure.
 * @module
 */
import { isLabelKey, isReservedLabelKey, toLabelValue } from "../core/text/label.ts";
import { mustBe } from "../core/text/values.ts";
import { quote, shorten } from "../core/text/printable.ts";

/** A tag with key and value, as people wrote them. */
interface Tag {
  readonly key: string;
  readonly value: string;
}

/** Node labels from the tags of an instance. Landfall removes a label when its tag is removed. */
export interface TagLabels {
  /** Valid labels, sorted by key. */
  readonly labels: Readonly<Record<string, string>>;
  /** Keys to which several tags give different values, sorted. The Node keeps the label that it has. */
  readonly unclear: readonly string[];
  /** One sentence without full stop for each tag that becomes no label. The last one counts tags beyond the limit. */
  readonly refused: readonly string[];
}

/** Which tags become labels. */
interface TagRules {
  /** Only tags whose key begins with one of these become labels. See {@linkcode explainTagPrefix}. */
  readonly prefixes: readonly string[];
  /** Whether Landfall writes a label with this key for another reason than a tag. */
  readonly isOwnKey: (key: string) => boolean;
}

/** Maximum number of labels from the tags of one instance. Beyond it, the first keys in alphabetical order win. */
export const TAG_LABELS_MAX = 64;
const REFUSED_MAX = 5;
const SHOWN_CHARS_MAX = 80;

/** The result without such tags. */
export const NO_TAG_LABELS: TagLabels = Object.freeze({
  labels: Object.freeze({}),
  unclear: Object.freeze([]),
  refused: Object.freeze([]),
});

/**
 * Turns tags into labels. A key keeps its prefix. Characters that Kubernetes does not allow in a name or value become
 * `-`. The part of a key before the slash must already be valid. The order of the tags does not matter.
 */
export function toTagLabels(tags: readonly Tag[], rules: TagRules): TagLabels {
  const values = new Map<string, Set<string>>();
  const refused = new Set<string>();
  for (const tag of tags) {
    if (!rules.prefixes.some((prefix) => tag.key.startsWith(prefix))) continue;
    const label = toLabel(tag, rules);
    if (typeof label === "string") refused.add(label);
    else values.set(label.key, (values.get(label.key) ?? new Set()).add(label.value));
  }
  if (values.size === 0 && refused.size === 0) return NO_TAG_LABELS;
  const keys = [...values.keys()].sort();
  const labels: [string, string][] = [];
  const unclear: string[] = [];
  for (const key of keys.slice(0, TAG_LABELS_MAX)) {
    const [value = "", ...more] = [...(values.get(key) ?? [])].sort();
    if (more.length === 0) labels.push([key, value]);
    else {
      unclear.push(key);
      const all = [value, ...more].map(show).join(", ");
      refused.add(`Several tags give label ${show(key)} different values: ${all}`);
    }
  }
  if (keys.length > TAG_LABELS_MAX) {
    const left = keys.length - TAG_LABELS_MAX;
    refused.add(
      `Landfall sets at most ${TAG_LABELS_MAX} labels from tags and ignores ${left} more`,
    );
  }
  return { labels: Object.fromEntries(labels), unclear, refused: toFew([...refused].sort()) };
}

/**
 * Says what is wrong with a prefix of tag keys; `undefined` if nothing is. A label key that begins with it must be
 * valid, and not reserved for Kubernetes, the cloud or Landfall.
 */
export function explainTagPrefix(prefix: string): string | undefined {
  // The shortest key with this prefix.
  const key = /[A-Za-z0-9]$/.test(prefix) ? prefix : `${prefix}x`;
  if (prefix === "" || !isLabelKey(key)) {
    return mustBe("the beginning of a label key, for example example.com/");
  }
  if (isReservedLabelKey(key)) {
    return "labels under this prefix are reserved for Kubernetes, the cloud or Landfall";
  }
  return undefined;
}

/** The label from a tag, or a sentence that says why there is none. */
function toLabel({ key, value }: Tag, { prefixes, isOwnKey }: TagRules): Tag | string {
  const labelKey = toLabelKey(key);
  if (!isLabelKey(labelKey) || !prefixes.some((prefix) => labelKey.startsWith(prefix))) {
    return `Tag key ${show(key)} cannot become a label key`;
  }
  if (isReservedLabelKey(labelKey) || isOwnKey(labelKey)) {
    return `Label ${show(labelKey)} is reserved and cannot come from a tag`;
  }
  const labelValue = toLabelValue(value);
  if (labelValue === "" && value.trim() !== "") {
    return `Value ${show(value)} of tag ${show(key)} has no character that a label value allows`;
  }
  return { key: labelKey, value: labelValue };
}

/** Landfall must not invent a domain, so the part before the slash stays as it is. */
function toLabelKey(text: string): string {
  const slash = text.indexOf("/");
  return text.slice(0, slash + 1) + toLabelValue(text.slice(slash + 1));
}

function toFew(sentences: readonly string[]): readonly string[] {
  const left = sentences.length - REFUSED_MAX;
  if (left <= 0) return sentences;
  return [
    ...sentences.slice(0, REFUSED_MAX),
    `Landfall ignores ${left} more tags for such reasons`,
  ];
}

function show(text: string): string {
  return quote(shorten(text, SHOWN_CHARS_MAX));
}
