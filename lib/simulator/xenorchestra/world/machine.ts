/**
 * What follows from a change of a virtual machine: its host, its guest and its plugs by its power, and its parts when
 * it is deleted.
 * @module
 */
import { type PowerState, toGuest, type XoRecord } from "../records.ts";

/** What is known of a guest without tools. */
const TOOLLESS = { startTime: toGuest({})["startTime"], os_version: null, xenTools: false };
const OF_GUESTS = [
  "xenTools",
  "managementAgentDetected",
  "pvDriversDetected",
  "startTime",
] as const;

/** What {@linkcode applyPower} needs. */
interface PowerChange {
  readonly power: PowerState;
  /** The host of a machine that runs; absent: it stays where it is. */
  readonly hostId: string | undefined;
  readonly hasTools: boolean;
}

/** Changes the power of a record, and all fields that follow. */
export function applyPower(vm: XoRecord, { power, hostId, hasTools }: PowerChange): void {
  vm["power_state"] = power;
  if (power === "Running" || power === "Paused") {
    if (hostId !== undefined) vm["$container"] = hostId;
    const { startTime = TOOLLESS.startTime, addresses } = vm;
    Object.assign(vm, { ...(hasTools ? toGuest({}) : TOOLLESS), startTime, addresses });
    return;
  }
  Object.assign(vm, { $container: vm["$pool"], addresses: {}, mainIpAddress: undefined });
  vm["os_version"] = null;
  for (const field of OF_GUESTS) delete vm[field];
}

/** Plugs the disks and interfaces of a machine, or unplugs them. */
export function plug(vm: XoRecord, vifs: Iterable<XoRecord>, vbds: Iterable<XoRecord>): void {
  const attached = vm["power_state"] === "Running" || vm["power_state"] === "Paused";
  for (const vif of vifs) if (vif["$VM"] === vm.id) vif["attached"] = attached;
  for (const vbd of vbds) if (vbd["VM"] === vm.id) vbd["attached"] = attached;
}

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
