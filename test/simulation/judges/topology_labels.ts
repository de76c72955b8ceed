/**
 * The labels that every cloud has: each key, and its older twin.
 * @module
 */

/** Of the region. */
export const REGION: readonly string[] = [
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/region",
];
/** Of the zone. */
export const ZONE: readonly string[] = [
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/zone",
];
/** Of the type. */
export const TYPE: readonly string[] = [
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
];

/** The twin of a label that goes before it where the cloud is silent; contract of `k8s.io/cloud-provider`. */
export function findBetaTwin(key: string): string | undefined {
  return [REGION, ZONE, TYPE].find(([stable]) => stable === key)?.[1];
}

/** The same value under all keys. */
export function toAll(keys: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}
