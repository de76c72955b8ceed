/**
 * Words of the management controllers of machines in a cluster. Frozen: they must not change.
 * @module
 */
import { parseIp } from "../../../core/net/ip.ts";
import { OWN_PREFIX } from "../../../core/text/label.ts";

/** Annotation of the Secret that a machine has for this: the record of its boot override. */
export const BOOT_OVERRIDE: string = `${OWN_PREFIX}boot-override`;

/** The type of an address, as an EndpointSlice has it. @param ip Absent: one of IPv4 */
export function toAddressType(ip: string | undefined): "IPv4" | "IPv6" {
  return parseIp(ip ?? "")?.family === 6 ? "IPv6" : "IPv4";
}

/**
 * The name of the EndpointSlice of a Service: `redfish-ipv4`. The type of its addresses cannot change, so each has its
 * own.
 */
export function toSliceName(service: string, ip: string | undefined): string {
  return `${service}-${toAddressType(ip).toLowerCase()}`;
}
