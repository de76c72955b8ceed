/**
 * Fields of old manifests that have no effect.
 * @module
 */
import type { SipServices } from "./sip_cluster.ts";

/**
 * Lists the fields of services that have no effect, in the order of the spec: `spec.services.auth[0].nodeInterfaceId`.
 *
 * @param services Right ones
 */
export function listUnsupportedFields({
  loadBalancerWorker = [],
  auth = [],
}: SipServices): string[] {
  return [
    ...loadBalancerWorker.flatMap(({ nodePort, nodePortRange: { start, end } }, at) =>
      nodePort === undefined || (start <= nodePort && nodePort <= end)
        ? []
        : [`spec.services.loadBalancerWorker[${at}].nodePort`],
    ),
    ...auth.flatMap(({ nodeInterfaceId }, at) =>
      nodeInterfaceId === undefined ? [] : [`spec.services.auth[${at}].nodeInterfaceId`],
    ),
  ];
}
