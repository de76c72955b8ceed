/**
 * Lists the places of a VM for display: its pool and its host.
 * @module
 */
import type { Instance, Place } from "../../../cloud/instance.ts";
import { HOST_ID_LABEL, HOST_NAME_LABEL, POOL_ID_LABEL, POOL_NAME_LABEL } from "./labels.ts";

/** Implements `Provider.toPlaces`. A VM that is off has no host. */
export function toPlaces(
  instance: Instance | undefined,
  labels: Readonly<Record<string, string>>,
): readonly Place[] {
  if (instance === undefined) {
    return [
      ...toPlace("pool", labels[POOL_ID_LABEL], labels[POOL_NAME_LABEL]),
      ...toPlace("host", labels[HOST_ID_LABEL], labels[HOST_NAME_LABEL]),
    ];
  }
  const { details } = instance;
  return [
    ...toPlace("pool", details["poolId"], details["poolName"]),
    ...toPlace("host", details["hostId"], details["hostName"]),
  ];
}

function toPlace(kind: string, id: string | undefined, name: string | undefined): Place[] {
  if (!id) return [];
  return [name ? { kind, id, name } : { kind, id }];
}
