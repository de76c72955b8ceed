/**
 * Snapshots of virtual machines, as records only.
 * @module
 */
import { copy } from "../../world/cache.ts";
import { toIdFields, type XoRecord } from "../../records.ts";
import { readIds, toOperation, type Work } from "../backend.ts";

/** Takes one. @param name @default {the name of the machine} */
export async function takeSnapshot(
  work: Work,
  vm: XoRecord,
  name: string = String(vm["name_label"]),
): Promise<{ readonly id: string }> {
  const { state } = work;
  const id = state.nextId("snapshot");
  await work.call({ ...toOperation("VM.snapshot", vm, { isAsync: true }), id }, () => {
    state.put("vm-snapshots", {
      ...copy(vm),
      ...toIdFields(id, String(vm["$pool"])),
      type: "VM-snapshot",
      name_label: name,
      power_state: "Halted",
      $snapshot_of: vm.id,
      VIFs: [],
      $VBDs: [],
      snapshots: [],
    });
    vm["snapshots"] = [...readIds(vm, "snapshots"), id];
  });
  return { id };
}

/** Deletes those of a machine that is gone. */
export async function dropSnapshots(work: Work, vm: XoRecord): Promise<void> {
  for (const id of readIds(vm, "snapshots")) {
    const snapshot = work.state.all("vm-snapshots").get(id);
    if (snapshot === undefined) continue;
    const operation = toOperation("VM.destroy", snapshot, { vm });
    await work
      .call(operation, () => work.state.remove("vm-snapshots", id))
      .catch(() => work.life.throwIfAborted());
  }
}
