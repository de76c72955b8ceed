/**
 * Syntax of Kubernetes labels and names, and who owns a label key.
 * @module
 */

const NAME = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;

/** Longest label value, and longest name part of a key, in characters. */
export const LABEL_LENGTH_MAX = 63;

/** What the API server accepts as a label value, in words. */
export const LABEL_VALUE_FORM =
  'a label value: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';

/** Whether the API server accepts this as a label key: an optional DNS subdomain, a slash, a name. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  if (name.length > LABEL_LENGTH_MAX || !NAME.test(name)) return false;
  return prefix === undefined || isSubdomain(prefix);
}

/** Whether the API server accepts this as a label value; the empty string is one. */
export function isLabelValue(value: string): boolean {
  return value === "" || (value.length <= LABEL_LENGTH_MAX && NAME.test(value));
}

/**
 * Turns any text into a label value: everything but ASCII letters, digits, `-`, `_` and `.` becomes `-`, the rest is
 * cut to 63 characters, and then trimmed at both ends to a letter or digit. May be empty.
 */
export function toLabelValue(text: string): string {
  return text
    .replaceAll(/[^-A-Za-z0-9_.]/gu, "-")
    .replace(/^[-_.]+/, "")
    .slice(0, LABEL_LENGTH_MAX)
    .replace(/[-_.]+$/, "");
}

/** Every label and annotation that Landfall creates begins with this. MUST NOT CHANGE: clusters contain it. */
export const OWN_PREFIX = "landfall.dev/";

/** Domains of Kubernetes. They own their subdomains, too. */
const KUBERNETES = ["kubernetes.io", "k8s.io"];
/** Domains whose labels a kubelet may set: the list of the admission plugin NodeRestriction. */
const KUBELET = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/** Labels in those domains that only the cloud sets. */
const OF_CLOUD = "node.kubernetes.io/instance-type";

/**
 * Whether only Kubernetes, the cloud or Landfall may set this label on a Node: the labels that the admission plugin
 * NodeRestriction forbids to a kubelet, those of region, zone, type, host name and platform, and `landfall.dev/`.
 */
export function isReservedLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash < 0) return false;
  const namespace = key.slice(0, slash);
  if (isWithin(namespace, [OWN_PREFIX.slice(0, -1)])) return true;
  if (!isWithin(namespace, KUBERNETES)) return false;
  return !isWithin(namespace, KUBELET) || key === OF_CLOUD;
}

/** Whether a domain is one of these, or a subdomain of one. */
export function isWithin(domain: string, parents: readonly string[]): boolean {
  return parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
}

const LENGTH_MAX = 253;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Whether this is a DNS subdomain in lower case (RFC 1123), as names of Nodes, Leases and Events are. */
export function isSubdomain(text: string): boolean {
  return text.length <= LENGTH_MAX && SUBDOMAIN.test(text);
}
