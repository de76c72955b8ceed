/**
 * The first step of a creation: the hypervisor copies a template. What it makes is a template, too.
 * @module
 */
import { copy } from "../../world/cache.ts";
import type { XoRecord } from "../../records.ts";
import { toIdFields, toVif } from "../../records.ts";
import type { XenOrchestraState } from "../../state.ts";
import { toOperation, type Work } from "../backend.ts";
import {
  dropDisk,
  listAttachments,
  putAttachment,
  toHandleInvalid,
  toRecord,
} from "../steps/disks.ts";
import { listInterfaces, putInterface } from "../steps/interfaces.ts";

/** A disk of a template, and its copy. */
interface Copied {
  readonly vbd: XoRecord;
  readonly vdi: XoRecord;
}

/**
 * Copies a template under another name. Its disks come first, and belong to nothing for a moment; then the record, with
 * its disks and interfaces. The hypervisor goes on without xo-server.
 */
export async function cloneTemplate(
  work: Work,
  template: XoRecord,
  name: string,
  isFull: boolean,
): Promise<XoRecord> {
  const { state } = work;
  const id = state.nextId("vm");
  const method = isFull ? "VM.copy" : "VM.clone";
  const base = toOperation(method, template, { isAsync: true });
  const operation = { ...base, id, name, templateId: template.id };
  const copies: Copied[] = [];
  const copyDisks = (): void => {
    if (!state.all("vm-templates").has(template.id)) throw toHandleInvalid("VM", template);
    for (const vbd of listAttachments(state, template.id)) {
      const vdi = state.all("vdis").get(String(vbd["VDI"]));
      if (vdi !== undefined) copies.push({ vbd, vdi: copyDisk(state, vdi) });
    }
  };
  const putRecord = (): void => {
    if (!state.all("vm-templates").has(template.id)) {
      for (const { vdi } of copies) dropDisk(state, vdi);
      throw toHandleInvalid("VM", template);
    }
    putClone(state, template, { id, name, copies });
  };
  await work.backend.hypervisor.call(operation, [copyDisks, putRecord], work.life);
  return toRecord(state, "vm-templates", id);
}

function copyDisk(state: XenOrchestraState, vdi: XoRecord): XoRecord {
  const id = state.nextId("vdi");
  state.put("vdis", { ...copy(vdi), ...toIdFields(id, String(vdi["$pool"])), $VBDs: [] });
  const sr = state.all("srs").get(String(vdi["$SR"]));
  if (sr && Array.isArray(sr["VDIs"])) sr["VDIs"] = [...sr["VDIs"], id];
  return toRecord(state, "vdis", id);
}

function putClone(
  state: XenOrchestraState,
  template: XoRecord,
  { id, name, copies }: { id: string; name: string; copies: readonly Copied[] },
): void {
  const poolId = String(template["$pool"]);
  // Tags and texts are inherited; what belongs to one machine is not: who made it is kept under its own UUID.
  const { creation: _creation, isDefaultTemplate: _isDefault, ...rest } = template;
  state.put("vm-templates", {
    ...structuredClone(rest),
    ...toIdFields(id, poolId),
    name_label: name,
    isDefaultTemplate: false,
    blockedOperations: {},
    power_state: "Halted",
    snapshots: [],
    current_operations: {},
    VIFs: [],
    $VBDs: [],
    $container: poolId,
  });
  if (state.toolless.has(template.id)) state.toolless.add(id);
  for (const { vbd, vdi } of copies) {
    const vbdId = state.nextId("vbd");
    const link = { ...vbd, ...toIdFields(vbdId, poolId), VM: id, VDI: vdi.id, attached: false };
    putAttachment(state, link);
  }
  for (const vif of listInterfaces(state, template.id)) putInterface(state, toCopy(state, vif, id));
}

/** The copy has a MAC address of its own. */
function toCopy(state: XenOrchestraState, vif: XoRecord, vmId: string): XoRecord {
  const network = toRecord(state, "networks", String(vif["$network"]));
  const { MAC } = toVif(vmId, network, Number(vif["device"]));
  const ids = toIdFields(state.nextId("vif"), String(vif["$pool"]));
  return { ...copy(vif), ...ids, MAC, $VM: vmId, attached: false };
}
