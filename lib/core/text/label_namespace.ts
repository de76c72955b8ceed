/**
 * Whose a label key is, by what stands before its slash.
 * @module
 */

/** Every label and annotation of Landfall's own begins with this. MUST NOT CHANGE: it stands in clusters. */
export const OWN_PREFIX = "landfall.dev/";

/** Kubernetes' own, and everything below them. */
const KUBERNETES = ["kubernetes.io", "k8s.io"];
/** Those that a kubelet may set as it likes: the list of the admission plugin NodeRestriction. */
const KUBELET = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/** Within those, what the cloud alone tells. */
const OF_CLOUD = "node.kubernetes.io/instance-type";

/**
 * Whether only Kubernetes, the cloud or Landfall itself may give a Node this label: what the admission plugin
 * NodeRestriction keeps a kubelet from setting, those of region, zone, type, host name and platform, and
 * `landfall.dev/`.
 */
export function isReservedLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash < 0) return false;
  const namespace = key.slice(0, slash);
  if (isWithin(namespace, [OWN_PREFIX.slice(0, -1)])) return true;
  if (!isWithin(namespace, KUBERNETES)) return false;
  return !isWithin(namespace, KUBELET) || key === OF_CLOUD;
}

/** Whether a DNS domain is one of these, or below one. */
export function isWithin(domain: string, parents: readonly string[]): boolean {
  return parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
}
