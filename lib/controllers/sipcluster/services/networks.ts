/**
 * The networks on which hosts need an address, because services reach them there. Pure.
 * @module
 */
import type { SipServices } from "../resource/sip_cluster.ts";

/** The IDs of these networks, sorted. */
export function listNetworks(services: SipServices): readonly string[] {
  const entries = Object.values(services).flat();
  const ids = entries.map(({ nodeInterfaceId }) => nodeInterfaceId ?? "");
  return [...new Set(ids)].filter((id) => id !== "").toSorted();
}
