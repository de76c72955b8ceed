/**
 * The life of a virtual machine in the hypervisor: it starts, stops and restarts, has snapshots, and is destroyed.
 * @module
 */
import { type PowerState, toIdFields, type XoRecord } from "../records.ts";
import { copy } from "../world/cache.ts";
import { readIds, toOperation, type Work } from "./backend.ts";
import { destroyDisk, dropAttachment, listAttachments, toHandleInvalid } from "./disks.ts";
import { noSuchObject, XapiError, XoError } from "./errors.ts";
import { dropInterface, listInterfaces } from "./interfaces.ts";

/** What can be done with the power, by the word in the path. */
export interface PowerRule {
  /** Method of the hypervisor. */
  readonly method: string;
  /** States in which it can be done; the first one is what the refusal asks for. */
  readonly from: readonly PowerState[];
  /** The state after it. */
  readonly to: PowerState;
  /** Whether the guest must take part. @default {false} */
  readonly needsTools?: boolean;
  /** The word under which it is blocked, and the privilege that it needs. */
  readonly blockedAs: string;
  readonly privilege: string;
}

/** All of them. */
export const POWER_RULES: ReadonlyMap<string, PowerRule> = new Map<string, PowerRule>([
  ["start", toRule("VM.start", ["Halted"], "Running", "start", "start")],
  [
    "hard_shutdown",
    toRule(
      "VM.hard_shutdown",
      ["Running", "Paused", "Suspended"],
      "Halted",
      "hard_shutdown",
      "shutdown:hard",
    ),
  ],
  [
    "clean_shutdown",
    {
      ...toRule("VM.clean_shutdown", ["Running"], "Halted", "clean_shutdown", "shutdown:clean"),
      needsTools: true,
    },
  ],
  [
    "hard_reboot",
    toRule("VM.hard_reboot", ["Running", "Paused"], "Running", "hard_reboot", "reboot:hard"),
  ],
  [
    "clean_reboot",
    {
      ...toRule("VM.clean_reboot", ["Running"], "Running", "clean_reboot", "reboot:clean"),
      needsTools: true,
    },
  ],
  ["pause", toRule("VM.pause", ["Running"], "Paused", "pause", "pause")],
  ["unpause", toRule("VM.unpause", ["Paused"], "Running", "unpause", "unpause")],
  ["suspend", toRule("VM.suspend", ["Running"], "Suspended", "suspend", "suspend")],
  ["resume", toRule("VM.resume", ["Suspended"], "Running", "resume", "resume")],
]);

function toRule(
  method: string,
  from: readonly PowerState[],
  to: PowerState,
  blockedAs: string,
  privilege: string,
): PowerRule {
  return { method, from, to, blockedAs, privilege };
}

/** Starts a machine. @param hostId Where; otherwise the hypervisor chooses */
export async function startVm(work: Work, vm: XoRecord, hostId?: string): Promise<void> {
  await changePower(work, vm, "start", hostId);
}

/**
 * Changes the power.
 *
 * @throws {XoError} 403 if a person blocked it
 * @throws {XapiError} if the state of the machine or of its host does not allow it
 */
export async function changePower(
  work: Work,
  vm: XoRecord,
  action: string,
  hostId?: string,
): Promise<void> {
  const rule = POWER_RULES.get(action);
  if (rule === undefined) throw new RangeError(`Cannot find action "${action}"`);
  refuseBlocked(vm, rule);
  const host = hostId === undefined ? undefined : work.find("hosts", hostId, "host");
  await work.call(toOperation(rule.method, vm, { isAsync: true }), () => {
    refuseGone(work, vm);
    const ref = String(vm["_xapiRef"]);
    const power = String(vm["power_state"]);
    if (!rule.from.some((one) => one === power)) {
      const wanted = String(rule.from[0]).toLowerCase();
      throw new XapiError("VM_BAD_POWER_STATE", [ref, wanted, power.toLowerCase()]);
    }
    if (rule.needsTools === true && !hasTools(vm)) throw new XapiError("VM_LACKS_FEATURE", [ref]);
    const target = rule.to === "Running" ? findHost(work, vm, host) : undefined;
    work.state.setPower(vm.id, rule.to, target?.id);
    // A VM that continues after a pause was not started.
    if (rule.to === "Running" && action !== "unpause") {
      vm["startTime"] = Math.floor(work.backend.clock.now() / 1_000);
    }
  });
}

/** @throws {XapiError} if a machine was deleted since it was found */
function refuseGone({ state }: Work, vm: XoRecord): void {
  if (!state.all("vms").has(vm.id)) throw toHandleInvalid("VM", vm);
}

/** Whether the guest can be asked. */
function hasTools(vm: XoRecord): boolean {
  return typeof vm["xenTools"] === "object" && vm["xenTools"] !== null;
}

/** XO names the operation with a capital letter. */
function refuseBlocked(vm: XoRecord, { blockedAs }: PowerRule): void {
  const reason: unknown = Object(vm["blockedOperations"])[blockedAs];
  if (reason === undefined) return;
  const words = blockedAs.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const operation = words.join("");
  throw new XoError(403, `forbidden operation: ${operation}`, { operation, reason });
}

function findHost(work: Work, vm: XoRecord, wanted: XoRecord | undefined): XoRecord | undefined {
  if (vm["power_state"] !== "Halted") return undefined;
  if (wanted !== undefined) {
    if (wanted["enabled"] === true) return wanted;
    throw new XapiError("HOST_DISABLED", [String(wanted["_xapiRef"])]);
  }
  const hosts = [...work.state.all("hosts").values()].filter(
    (host) => host["$pool"] === vm["$pool"] && host["enabled"] === true,
  );
  const [first] = hosts.toSorted((one, two) => rank(two, vm) - rank(one, vm));
  if (first === undefined) throw new XapiError("NO_HOSTS_AVAILABLE");
  return first;
}

function rank(host: XoRecord, vm: XoRecord): number {
  return host.id === vm["affinityHost"] ? 1 : 0;
}

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
async function dropSnapshots(work: Work, vm: XoRecord): Promise<void> {
  for (const id of readIds(vm, "snapshots")) {
    const snapshot = work.state.all("vm-snapshots").get(id);
    if (snapshot === undefined) continue;
    const operation = toOperation("VM.destroy", snapshot, { vm });
    await work
      .call(operation, () => work.state.remove("vm-snapshots", id))
      .catch(() => work.life.throwIfAborted());
  }
}

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
