/**
 * The sixth step of a creation: new disks, one after another, each first made and then attached; then the template's
 * disks change.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { attachDisk, createDisk, growDisk, listAttachments, toRecord } from "../steps/disks.ts";
import { XapiError } from "../errors.ts";
import type { VdiWish } from "./body.ts";

/** Makes and changes the disks of a new machine. */
export async function applyDisks(
  work: Work,
  vm: XoRecord,
  wishes: readonly VdiWish[],
  poolId: string,
): Promise<void> {
  for (const wish of wishes.filter(({ userdevice }) => userdevice === undefined)) {
    const { name_label: name = "", size: sizeBytes, name_description: description = "" } = wish;
    if (sizeBytes === undefined) throw new XapiError("FIELD_TYPE_ERROR", ["virtual_size"]);
    const sr = findRepository(work, wish.sr, poolId);
    const disk = await createDisk(work, { name, sizeBytes, sr, description }, vm);
    await attachDisk(work, vm, disk);
  }
  for (const wish of wishes.filter(({ userdevice }) => userdevice !== undefined)) {
    await changeDisk(work, vm, wish);
  }
}

/** A repository that is wrong or absent is silently the default one of the pool. */
function findRepository({ state }: Work, id: string | undefined, poolId: string): XoRecord {
  const named = id === undefined ? undefined : state.read("srs", id);
  const standard = String(state.all("pools").get(poolId)?.["default_SR"]);
  return named ?? toRecord(state, "srs", standard);
}

async function changeDisk(work: Work, vm: XoRecord, wish: VdiWish): Promise<void> {
  const { state } = work;
  const { userdevice, size, sr, name_label: name, name_description: description } = wish;
  const vbd = listAttachments(state, vm.id).find((one) => one["position"] === userdevice);
  if (vbd === undefined) throw new XapiError("HANDLE_INVALID", ["VBD", String(userdevice)]);
  const vdi = toRecord(state, "vdis", String(vbd["VDI"]));
  if (sr !== undefined && vdi["$SR"] !== sr && state.all("srs").has(sr)) {
    await work.call(toOperation("VDI.pool_migrate", vdi, { vm }), () => (vdi["$SR"] = sr));
  }
  if (size !== undefined) await growDisk(work, vdi, size);
  const texts = { name_label: name, name_description: description };
  for (const [field, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    const operation = toOperation(`VDI.set_${field}`, vdi, { vm });
    // That a disk keeps its old name is no error.
    await work.call(operation, () => (vdi[field] = text)).catch(() => work.life.throwIfAborted());
  }
}
