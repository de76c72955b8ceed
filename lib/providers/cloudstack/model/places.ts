/**
 * Lists the places of a VM for display: its zone, and its region if that is not the zone.
 * @module
 */
import type { Instance, Place } from "../../../cloud/instance.ts";

/**
 * Implements `Provider.toPlaces`. Region and zone are as the labels have them, so that a Node whose VM is not shown
 * stays in its place. There is no host: only root administrators see it.
 */
export function toPlaces(
  instance: Instance | undefined,
  labels: Readonly<Record<string, string>>,
): readonly Place[] {
  const zone = instance?.zone ?? labels["topology.kubernetes.io/zone"];
  const region = instance?.region ?? labels["topology.kubernetes.io/region"];
  return [...toPlace("region", region === zone ? undefined : region), ...toPlace("zone", zone)];
}

function toPlace(kind: string, id: string | undefined): Place[] {
  return id ? [{ kind, id }] : [];
}
