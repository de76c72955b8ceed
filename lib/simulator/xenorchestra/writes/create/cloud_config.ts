/**
 * The eighth step of a creation: a small disk with what the guest reads at its first start.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { attachDisk, createDisk, listAttachments, toRecord } from "../steps/disks.ts";
import type { CreateBody } from "./body.ts";

const NAME = "XO CloudConfigDrive";
const SIZE_BYTES = 10 * 1024 * 1024;

/** Makes the disk, fills it and attaches it. That it could not be filled is no error. */
export async function addCloudConfig(work: Work, vm: XoRecord, body: CreateBody): Promise<void> {
  const { state } = work;
  const first = listAttachments(state, vm.id).find((vbd) => vbd["is_cd_drive"] !== true);
  if (first === undefined) {
    throw new Error("Can't create cloud init config drive for VM without disks");
  }
  const beside = toRecord(state, "vdis", String(first["VDI"]));
  const sr = toRecord(state, "srs", String(beside["$SR"]));
  const disk = await createDisk(work, { name: NAME, sizeBytes: SIZE_BYTES, sr }, vm);
  const files = { "user-data": body.cloud_config, "network-config": body.network_config };
  await work
    .call(toOperation("VDI.import", disk, { vm }), () => {
      const content = new TextEncoder().encode(JSON.stringify(files));
      work.backend.contents.set(disk.id, content);
    })
    .catch(() => work.life.throwIfAborted());
  await attachDisk(work, vm, disk);
}
