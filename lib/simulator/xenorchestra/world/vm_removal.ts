/**
 * What goes with a virtual machine that is deleted.
 * @module
 */
import type { XoRecord } from "../records.ts";

/**
 * Removes the interfaces of a virtual machine and the links to its disks, as a hypervisor does.
 *
 * @param toRecords The records of a collection, by ID
 * @param withDisks Whether its disks go, too; otherwise they stay, attached to nothing
 */
export function removeParts(
  toRecords: (collection: "vbds" | "vdis" | "vifs") => Map<string, XoRecord>,
  vmId: string,
  withDisks: boolean,
): void {
  const vifs = toRecords("vifs");
  const vbds = toRecords("vbds");
  const vdis = toRecords("vdis");
  for (const vif of vifs.values()) if (vif["$VM"] === vmId) vifs.delete(vif.id);
  for (const { id, VM, VDI } of vbds.values()) {
    if (VM !== vmId) continue;
    vbds.delete(id);
    if (typeof VDI !== "string") continue;
    if (withDisks) vdis.delete(VDI);
    else detach(vdis.get(VDI), id);
  }
}

function detach(disk: XoRecord | undefined, linkId: string): void {
  const links = disk?.["$VBDs"];
  if (disk && Array.isArray(links)) disk["$VBDs"] = links.filter((one) => one !== linkId);
}
