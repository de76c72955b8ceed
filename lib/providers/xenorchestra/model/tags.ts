/**
 * Turns the tags of a VM into Node labels.
 * @module
 */
import { NO_TAG_LABELS, type TagLabels, toTagLabels } from "../../../cloud/tag_labels.ts";
import { isWithin } from "../../../core/text/label.ts";

/** Every label of the provider is in this namespace: see labels.ts. */
const OWN_NAMESPACES = ["k8s.xenorchestra"];

/**
 * Turns tags of the form `key=value` into labels, frozen.
 *
 * @param tags Absent if Xen Orchestra does not report them
 * @param prefixes The setting `nodeLabelsFromTags.prefixes`
 * @returns `undefined` if they are not known
 */
export function toVmTagLabels(
  tags: readonly string[] | undefined,
  prefixes: readonly string[],
): TagLabels | undefined {
  if (prefixes.length === 0) return NO_TAG_LABELS;
  if (tags === undefined) return undefined;
  const pairs = tags.flatMap((tag) => {
    const at = tag.indexOf("=");
    return at < 0 ? [] : { key: tag.slice(0, at).trim(), value: tag.slice(at + 1).trim() };
  });
  const { labels, unclear, refused } = toTagLabels(pairs, { prefixes, isOwnKey });
  return Object.freeze({
    labels: Object.freeze(labels),
    unclear: Object.freeze(unclear),
    refused: Object.freeze(refused),
  });
}

function isOwnKey(key: string): boolean {
  return key.includes("/") && isWithin(key.slice(0, key.indexOf("/")), OWN_NAMESPACES);
}
