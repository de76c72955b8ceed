/**
 * Disks in the hypervisor: made, attached, detached, grown and destroyed.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import type { XenOrchestraState } from "../../state.ts";
import { toVbd, toVdi } from "../../world/storage.ts";
import { readIds, toOperation, type Work } from "../backend.ts";
import { XapiError } from "../errors.ts";

/** What {@linkcode createDisk} makes. */
export interface DiskWish {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sr: XoRecord;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly otherConfig?: Readonly<Record<string, unknown>>;
}

/** The disks of a repository. */
function listDisks(state: XenOrchestraState, srId: string): readonly XoRecord[] {
  return [...state.all("vdis").values()].filter((vdi) => vdi["$SR"] === srId);
}

/** Bytes in a repository that no disk has. */
function findFreeBytes(state: XenOrchestraState, sr: XoRecord): number {
  const used = listDisks(state, sr.id).reduce((sum, vdi) => sum + Number(vdi["size"]), 0);
  return Number(sr["size"]) - used;
}

/** Makes a disk that is attached to nothing. @param vm The machine that it is for. Absent: none yet */
export async function createDisk(work: Work, wish: DiskWish, vm?: XoRecord): Promise<XoRecord> {
  const { state } = work;
  const { sr, name, sizeBytes, description = "", tags = [], otherConfig = {} } = wish;
  const id = state.nextId("vdi");
  const poolId = String(sr["$pool"]);
  const method = "VDI.create";
  const about = vm === undefined ? name : String(vm["name_label"]);
  await work.call({ method, poolId, id, name: about }, () => {
    if (findFreeBytes(state, sr) < sizeBytes) throw toFull(method);
    const vdi = toVdi({ id, name, sr, sizeBytes, description, tags });
    state.put("vdis", { ...vdi, id, other_config: otherConfig });
    sr["VDIs"] = [...readIds(sr, "VDIs"), id];
  });
  return toRecord(state, "vdis", id);
}

function toFull(method: string): XapiError {
  return new XapiError("SR_BACKEND_FAILURE_44", ["", "There is insufficient space", ""], method);
}

/** How a disk is attached. */
interface Attachment {
  /** @default {the next one that is free} */
  readonly position?: string;
  /** @default {false} */
  readonly isReadOnly?: boolean;
  /** @default {false} */
  readonly isCd?: boolean;
  /** @default {false} */
  readonly isBootable?: boolean;
}

/** Attaches a disk to a virtual machine. */
export async function attachDisk(
  work: Work,
  vm: XoRecord,
  vdi: XoRecord,
  how: Attachment = {},
): Promise<XoRecord> {
  const { state } = work;
  const id = state.nextId("vbd");
  const operation = { ...toOperation("VBD.create", vm), id };
  await work.call(operation, () => {
    const taken = new Set(listAttachments(state, vm.id).map((vbd) => String(vbd["position"])));
    const position = how.position ?? findFree(taken);
    if (taken.has(position)) {
      throw new XapiError("DEVICE_ALREADY_EXISTS", [position], operation.method);
    }
    if (!state.all("vdis").has(vdi.id)) throw toHandleInvalid("VDI", vdi);
    putAttachment(state, toVbd({ ...how, id, vm, vdi, position }));
  });
  return toRecord(state, "vbds", id);
}

/** Writes down an attachment at both ends. */
export function putAttachment(state: XenOrchestraState, vbd: XoRecord): void {
  state.put("vbds", vbd);
  for (const end of findEnds(state, vbd)) end["$VBDs"] = [...readIds(end, "$VBDs"), vbd.id];
}

/** Forgets an attachment at both ends. */
export function dropAttachment(state: XenOrchestraState, vbd: XoRecord): void {
  state.remove("vbds", vbd.id);
  for (const end of findEnds(state, vbd)) {
    end["$VBDs"] = readIds(end, "$VBDs").filter((id) => id !== vbd.id);
  }
}

function findEnds(state: XenOrchestraState, vbd: XoRecord): XoRecord[] {
  const vmId = String(vbd["VM"]);
  const vm = state.all("vms").get(vmId) ?? state.all("vm-templates").get(vmId);
  return [vm, state.all("vdis").get(String(vbd["VDI"]))].filter((end) => end !== undefined);
}

/** The attachments of a virtual machine or template. */
export function listAttachments(state: XenOrchestraState, vmId: string): readonly XoRecord[] {
  return [...state.all("vbds").values()].filter((vbd) => vbd["VM"] === vmId);
}

/**
 * Puts a disk into the drive for CDs of a machine, which it gets if it has none.
 *
 * @param vdi Absent: empties the drive
 */
export async function changeCd(work: Work, vm: XoRecord, vdi?: XoRecord): Promise<void> {
  const { state } = work;
  const drive = listAttachments(state, vm.id).find((vbd) => vbd["is_cd_drive"] === true);
  if (drive === undefined) {
    if (vdi) await attachDisk(work, vm, vdi, { isCd: true, isReadOnly: true });
    return;
  }
  const held = state.all("vdis").get(String(drive["VDI"]));
  if (held === undefined && vdi === undefined) {
    throw new XapiError("VBD_IS_EMPTY", [String(drive["_xapiRef"])], "VBD.eject");
  }
  if (held) {
    await work.call(toOperation("VBD.eject", drive, { vm }), () => {
      delete drive["VDI"];
      held["$VBDs"] = readIds(held, "$VBDs").filter((id) => id !== drive.id);
    });
  }
  if (vdi === undefined) return;
  await work.call(toOperation("VBD.insert", drive, { vm }), () => {
    drive["VDI"] = vdi.id;
    vdi["$VBDs"] = [...readIds(vdi, "$VBDs"), drive.id];
  });
}

/** Removes a disk with its attachments. */
export async function destroyDisk(work: Work, vdi: XoRecord, vm?: XoRecord): Promise<void> {
  const { state } = work;
  const operation = toOperation("VDI.destroy", vdi, { vm: vm ?? vdi });
  await work.call(operation, () => {
    const attached = [...state.all("vbds").values()].filter((vbd) => vbd["VDI"] === vdi.id);
    if (attached.some((vbd) => vbd["attached"] === true)) {
      throw new XapiError("VDI_IN_USE", [String(vdi["_xapiRef"]), "destroy"], operation.method);
    }
    for (const vbd of attached) dropAttachment(state, vbd);
    dropDisk(state, vdi);
    work.backend.contents.delete(vdi.id);
  });
}

/** Forgets a disk. */
export function dropDisk(state: XenOrchestraState, vdi: XoRecord): void {
  state.remove("vdis", vdi.id);
  const sr = state.all("srs").get(String(vdi["$SR"]));
  if (sr) sr["VDIs"] = readIds(sr, "VDIs").filter((id) => id !== vdi.id);
}

/** Makes a disk larger. */
export async function growDisk(work: Work, vdi: XoRecord, sizeBytes: number): Promise<void> {
  const { state } = work;
  const before = Number(vdi["size"]);
  if (sizeBytes === before) return;
  const operation = toOperation("VDI.resize", vdi);
  await work.call(operation, () => {
    if (sizeBytes < before) {
      throw new XapiError("INVALID_VALUE", ["virtual_size", String(sizeBytes)], operation.method);
    }
    const sr = state.all("srs").get(String(vdi["$SR"]));
    if (sr && findFreeBytes(state, sr) < sizeBytes - before) throw toFull(operation.method);
    const isInUse = [...state.all("vbds").values()].some(
      (vbd) => vbd["VDI"] === vdi.id && vbd["attached"] === true,
    );
    if (isInUse) throw new XapiError("VDI_IN_USE", [String(vdi["_xapiRef"])], operation.method);
    vdi["size"] = sizeBytes;
  });
}

/** The hypervisor does not know an object that it is asked about. */
export function toHandleInvalid(type: string, { _xapiRef: ref }: XoRecord): XapiError {
  return new XapiError("HANDLE_INVALID", [type, String(ref)]);
}

/** The first number that is not taken, as text. */
export function findFree(taken: ReadonlySet<string>): string {
  let free = 0;
  while (taken.has(String(free))) free += 1;
  return String(free);
}

/** A record that must exist. */
export function toRecord(
  state: XenOrchestraState,
  collection: Parameters<XenOrchestraState["all"]>[0],
  id: string,
): XoRecord {
  const record = state.all(collection).get(id);
  if (record === undefined) throw new RangeError(`Cannot find "${id}" in ${collection}`);
  return record;
}
