/**
 * Says who owns a label key, by the part before its slash.
 * @module
 */

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
