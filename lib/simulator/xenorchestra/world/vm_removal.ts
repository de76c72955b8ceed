/**
 * What goes with a virtual machine that is deleted.
 * @module
 */
import type { XoRecord } from "../records.ts";

/** Where the parts of a machine are. */
interface PartsStore {
  all(collection: "vbds" | "vdis" | "vifs"): ReadonlyMap<string, XoRecord>;
  remove(collection: "vbds" | "vdis" | "vifs", id: string): void;
}

/**
 * Removes the interfaces of a virtual machine and the links to its disks, as a hypervisor does.
 *
 * @param withDisks Whether its disks go, too; otherwise they stay, attached to nothing
 */
export function removeParts(store: PartsStore, vmId: string, withDisks: boolean): void {
  for (const vif of store.all("vifs").values()) {
    if (vif["$VM"] === vmId) store.remove("vifs", vif.id);
  }
  for (const { id, VM, VDI } of store.all("vbds").values()) {
    if (VM !== vmId) continue;
    store.remove("vbds", id);
    if (typeof VDI !== "string") continue;
    if (withDisks) store.remove("vdis", VDI);
    else detach(store.all("vdis").get(VDI), id);
  }
}

function detach(disk: XoRecord | undefined, linkId: string): void {
  const links = disk?.["$VBDs"];
  if (disk && Array.isArray(links)) disk["$VBDs"] = links.filter((one) => one !== linkId);
}
