/**
 * What a machine has, in the form of metal3. Pure.
 *
 * metal3 cannot look inside a host without a management controller: it takes these details as the result of an
 * inspection, and removes the annotation once it has read it. From then on they are its own.
 * @module
 */
import type { GuestInterface } from "../guest/types.ts";
import type { WantedHost } from "./types.ts";

const MEBIBYTE = 1_048_576;

/**
 * The value of the annotation.
 *
 * @returns `undefined` if metal3 inspects the host itself: it can start it, and is to install it
 */
export function formatHardwareDetails(host: WantedHost): string | undefined {
  if (host.bmc !== undefined && !host.isExternallyProvisioned) return undefined;
  return JSON.stringify(toHardwareDetails(host));
}

/** metal3 refuses fields that it does not know. */
function toHardwareDetails({
  hardware,
  interfaces,
  bootMac,
  machineId,
  rootDeviceName,
  name,
}: WantedHost): object {
  const storage = hardware.disks.map(({ sizeBytes }, at) => ({
    name: at === 0 ? rootDeviceName : toDeviceName(at),
    rotational: false,
    sizeBytes,
  }));
  return {
    systemVendor: { manufacturer: "Xen", productName: "HVM domU", serialNumber: machineId },
    ramMebibytes: Math.floor(hardware.memoryBytes / MEBIBYTE),
    nics: interfaces.flatMap((one) => toNics(one, bootMac)),
    // Older versions of metal3 want the field, also while the disks are not known.
    storage,
    cpu: { arch: "x86_64", count: hardware.cpus },
    hostname: name,
  };
}

/** metal3 has one entry for each address of an interface. */
function toNics({ name, mac, addresses }: GuestInterface, bootMac: string | undefined): object[] {
  const nic = { name, mac, pxe: mac === bootMac };
  return addresses.length === 0 ? [nic] : addresses.map(({ ip }) => ({ ...nic, ip }));
}

/** As the driver of Xen names disks. A machine has at most 16. */
function toDeviceName(at: number): string {
  return `/dev/xvd${(at + 10).toString(36)}`;
}
