/**
 * Destroys virtual machines and templates: hard stop, the record, and then its disks.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { destroyDisk, dropAttachment, listAttachments, toHandleInvalid } from "./disks.ts";
import { dropInterface, listInterfaces } from "./interfaces.ts";
import { refuseGone } from "./power.ts";
import { dropSnapshots } from "./snapshots.ts";
import { noSuchObject, XoError } from "../errors.ts";

/** Deletes as `DELETE /vms/{id}` does. @throws {XoError} 403 if it is blocked */
export async function deleteVm(work: Work, vm: XoRecord): Promise<void> {
  const blocked = new Map(Object.entries(Object(vm["blockedOperations"]))).get("destroy");
  if (blocked !== undefined) {
    const operation = `destroy is blocked: ${String(blocked)}`;
    throw new XoError(403, `forbidden operation: ${operation}`, { operation });
  }
  await destroyMachine(work, vm);
}

/** Deletes as `DELETE /vm-templates/{id}` does. @throws {XoError} 409 for a default template */
export async function deleteTemplate(work: Work, template: XoRecord): Promise<void> {
  if (template["isDefaultTemplate"] === true) {
    throw new XoError(409, "incorrect state", { object: template.id });
  }
  await destroyMachine(work, template);
}

/**
 * Destroys a machine, running or not, and all disks that no other machine has. Errors of disks are only logged, since
 * the machine is gone by then.
 *
 * @param onGone Told the IDs of its disks at the moment when the machine is gone
 */
export async function destroyMachine(
  work: Work,
  vm: XoRecord,
  onGone: (diskIds: readonly string[]) => void = () => undefined,
): Promise<void> {
  const { state } = work;
  const attachments = listAttachments(state, vm.id);
  const hard = attachments.filter((vbd) => vbd["is_cd_drive"] !== true);
  const vdiIds = hard.map(({ VDI }) => String(VDI));
  if (vm["power_state"] !== "Halted") {
    const stop = toOperation("VM.hard_shutdown", vm, { isAsync: true });
    await work.call(stop, () => {
      refuseGone(work, vm);
      state.setPower(vm.id, "Halted");
    });
  }
  const collection = vm["type"] === "VM-template" ? "vm-templates" : "vms";
  await work.call(toOperation("VM.destroy", vm, { isAsync: true }), () => {
    if (!state.all(collection).has(vm.id)) throw toHandleInvalid("VM", vm);
    for (const vbd of listAttachments(state, vm.id)) dropAttachment(state, vbd);
    for (const vif of listInterfaces(state, vm.id)) dropInterface(state, vif);
    state.remove(collection, vm.id);
    onGone(vdiIds);
  });
  await dropSnapshots(work, vm);
  for (const id of vdiIds) {
    const vdi = state.all("vdis").get(id);
    const isShared = [...state.all("vbds").values()].some((vbd) => vbd["VDI"] === id);
    if (vdi === undefined || isShared) continue;
    await destroyDisk(work, vdi, vm).catch(() => work.life.throwIfAborted());
  }
}

/** A virtual machine or template that clients see. @throws {XoError} 404 */
export function findMachine(work: Work, collection: "vms" | "vm-templates", id: string): XoRecord {
  const machine = work.state.read(collection, id);
  if (machine === undefined) throw noSuchObject(id, collection === "vms" ? "VM" : "VM-template");
  return machine;
}
