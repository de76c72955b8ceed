/**
 * Which addresses of hosts a service needs and Landfall does not know. Pure.
 * @module
 */
import type { Machine, ServicePlan } from "./types.ts";

/** Names the hosts of which is not known whether they have an address on a network. */
export function listUnknown(
  machines: readonly Machine[],
  network: string,
): Pick<ServicePlan, "unknownHosts"> {
  const unknownHosts = machines
    .filter(({ unknown }) => unknown?.has(network))
    .map(({ namespace, name }) => `${namespace}/${name}`);
  return unknownHosts.length > 0 ? { unknownHosts } : {};
}
