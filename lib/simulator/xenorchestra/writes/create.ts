/**
 * Creates a virtual machine as xo-server does: nine steps, none of which is undone if the process dies, and a rollback
 * if a step fails.
 * @module
 */
import type { Need } from "../access/privileges.ts";
import { toIdFields, toVif, type XoRecord } from "../records.ts";
import type { XenOrchestraState } from "../state.ts";
import { copy } from "../world/cache.ts";
import { toOperation, type Work } from "./backend.ts";
import {
  attachDisk,
  createDisk,
  dropDisk,
  findFree,
  growDisk,
  listAttachments,
  putAttachment,
  toHandleInvalid,
  toRecord,
} from "./disks.ts";
import { noSuchObject, XapiError } from "./errors.ts";
import { changeFields, type FieldChange, toFieldChange } from "./fields.ts";
import { createInterface, destroyInterface, listInterfaces, putInterface } from "./interfaces.ts";
import { destroyMachine, startVm } from "./power.ts";
import { type BodyShape, toHostNeeds } from "./route.ts";

/** Runs the action. @returns the ID of the machine @throws {XoError | XapiError | SocketError} */
export async function createVm(
  work: Work,
  poolId: string,
  body: CreateBody,
): Promise<{ readonly id: string }> {
  const template = findTemplate(work, body.template);
  const clone = await cloneTemplate(work, template, body.name_label, body.clone === false);
  try {
    await finish(work, clone, body, { poolId, templateId: String(template["uuid"]) });
  } catch (error) {
    // A process that died rolls nothing back, and forgets the error.
    work.life.throwIfAborted();
    const { state } = work;
    const left = state.all("vms").get(clone.id) ?? state.all("vm-templates").get(clone.id);
    if (left !== undefined) await rollBack(work, left);
    throw error;
  }
  return { id: clone.id };
}

/** Destroys what was made. The first error counts, not one of this. */
async function rollBack(work: Work, machine: XoRecord): Promise<void> {
  const note = (diskIds: readonly string[]): void => {
    for (const id of diskIds) work.backend.rolledBack.add(id);
  };
  await destroyMachine(work, machine, note).catch(() => work.life.throwIfAborted());
}

/** Templates are named by their UUID, even if they have another ID. */
function findTemplate({ state }: Work, uuid: string | undefined): XoRecord {
  const template = state.list("vm-templates").find((one) => one["uuid"] === uuid);
  if (template !== undefined) return template;
  const isOther = uuid !== undefined && state.read("vms", uuid) !== undefined;
  throw noSuchObject(uuid, isOther ? "VM-template" : undefined);
}

async function finish(
  work: Work,
  clone: XoRecord,
  body: CreateBody,
  { poolId, templateId }: { readonly poolId: string; readonly templateId: string },
): Promise<void> {
  const { state } = work;
  await work.call(toOperation("VM.remove_from_other_config", clone), () => undefined);
  await work.call(toOperation("VM.provision", clone, { isAsync: true }), () => {
    state.provision(clone.id);
  });
  const vm = toRecord(state, "vms", clone.id);
  await work.call(toOperation("VM.add_to_other_config", vm), () => {
    const date = new Date(work.backend.clock.now()).toISOString();
    vm["creation"] = { date, template: templateId, user: work.userId };
  });
  await applyFields(work, vm, body);
  if (body.install !== undefined) await applyInstall(work, vm, body.install);
  await applyDisks(work, vm, body.vdis ?? [], poolId);
  await applyInterfaces(work, vm, body.vifs ?? []);
  if (body.createVtpm === true) {
    await work.call(toOperation("VTPM.create", vm), () => {
      vm["VTPMs"] = [state.nextId("vtpm")];
    });
  }
  if (body.cloud_config !== undefined) await addCloudConfig(work, vm, body);
  if (body.boot === true) await startVm(work, vm);
}

/** An interface to make, or one of the template to remove. */
interface VifWish {
  network?: string;
  /** Filled in where it is absent; the record of the task shows that. */
  device?: string;
  mac?: string;
  mtu?: number;
  ipv4_allowed?: string[];
  ipv6_allowed?: string[];
  destroy?: boolean;
}

/** A disk to make, or with `userdevice` a disk of the template to change. */
interface VdiWish {
  name_label?: string;
  size?: number;
  sr?: string;
  name_description?: string;
  userdevice?: string;
}

/** The body, checked. */
export interface CreateBody {
  template?: string;
  name_label: string;
  name_description?: string;
  cpus?: number;
  memory?: number;
  affinity?: string;
  autoPoweron?: boolean;
  high_availability?: string;
  hvmBootFirmware?: string;
  secureBoot?: boolean;
  createVtpm?: boolean;
  copyHostBiosStrings?: boolean;
  clone?: boolean;
  vifs?: VifWish[];
  vdis?: VdiWish[];
  install?: { method: "network" | "cdrom"; repository: string };
  cloud_config?: string;
  network_config?: string;
  boot?: boolean;
  destroy_cloud_config_vdi?: boolean;
  vgpuType?: string;
  gpuGroup?: string;
}

const VIF: BodyShape = {
  network: { type: "string" },
  device: { type: "string" },
  mac: { type: "string" },
  mtu: { type: "number" },
  ipv4_allowed: { type: "array" },
  ipv6_allowed: { type: "array" },
  destroy: { type: "boolean" },
};

const VDI: BodyShape = {
  name_label: { type: "string" },
  size: { type: "number" },
  sr: { type: "string" },
  name_description: { type: "string" },
  userdevice: { type: "string" },
};

/** What the body may have. */
export const CREATE_SHAPE: BodyShape = {
  template: { type: "string" },
  name_label: { type: "string", isRequired: true },
  name_description: { type: "string" },
  cpus: { type: "number" },
  memory: { type: "number" },
  affinity: { type: "string" },
  autoPoweron: { type: "boolean" },
  high_availability: { type: "string" },
  hvmBootFirmware: { type: "string" },
  secureBoot: { type: "boolean" },
  createVtpm: { type: "boolean" },
  copyHostBiosStrings: { type: "boolean" },
  clone: { type: "boolean" },
  vifs: { type: "array", of: VIF },
  vdis: { type: "array", of: VDI },
  install: { type: "object", of: { method: { type: "string" }, repository: { type: "string" } } },
  cloud_config: { type: "string" },
  network_config: { type: "string" },
  boot: { type: "boolean" },
  destroy_cloud_config_vdi: { type: "boolean" },
  vgpuType: { type: "string" },
  gpuGroup: { type: "string" },
};

/** In the order in which the answer names those that are missing. @param body Not checked yet */
export function toCreateNeeds(work: Work, poolId: string, body: unknown): readonly Need[] {
  const pool = work.find("pools", poolId, "pool");
  const { template: uuid, affinity, vdis, vifs }: Record<string, unknown> = Object(body);
  // What is named must be there: that comes before rights and the rest of the body.
  const template = findTemplate(work, typeof uuid === "string" ? uuid : undefined);
  return [
    { resource: "pool", action: "create:vm", objectId: poolId, object: pool },
    {
      resource: "vm-template",
      action: "instantiate",
      objectId: String(uuid),
      object: template,
    },
    // Selectors look at the entries of the body.
    ...toEntries(vdis).map((object) => ({ resource: "vdi", action: "create", object })),
    ...toEntries(vifs).map((object) => ({ resource: "vif", action: "create", object })),
    ...toHostNeeds(work, affinity),
  ];
}

function toEntries(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A disk of a template, and its copy. */
interface Copied {
  readonly vbd: XoRecord;
  readonly vdi: XoRecord;
}

/**
 * Copies a template under another name. Its disks come first, and belong to nothing for a moment; then the record, with
 * its disks and interfaces. The hypervisor goes on without xo-server.
 */
async function cloneTemplate(
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

/** How the keys of `create_vm` are called elsewhere. */
const FIELDS = {
  name_description: "nameDescription",
  cpus: "cpus",
  memory: "memory",
  affinity: "affinityHost",
  autoPoweron: "autoPoweron",
  high_availability: "highAvailability",
  hvmBootFirmware: "hvmBootFirmware",
  secureBoot: "secureBoot",
} as const;

/** Writes the fields of a new machine, and waits for all of them. */
async function applyFields(work: Work, vm: XoRecord, body: CreateBody): Promise<void> {
  const changes = Object.entries(FIELDS).flatMap(([key, field]): FieldChange[] => {
    const value: unknown = Reflect.get(body, key);
    return value === undefined ? [] : [toFieldChange(field, value)];
  });
  await changeFields(work, vm, changes);
  if (body.autoPoweron !== true) return;
  const pool = work.state.all("pools").get(String(vm["$pool"]));
  if (pool !== undefined) pool["auto_poweron"] = true;
}

/** Puts the network first, or a CD, which is attached. */
async function applyInstall(
  work: Work,
  vm: XoRecord,
  { method, repository }: NonNullable<CreateBody["install"]>,
): Promise<void> {
  const letter = method === "network" ? "n" : "d";
  await work.call(toOperation("VM.set_HVM_boot_params", vm), () => {
    const boot = Object(vm["boot"]);
    const order = String(boot.order ?? "");
    vm["boot"] = { ...boot, order: letter + order.replaceAll(letter, "") };
  });
  if (method !== "cdrom") return;
  const iso = work.find("vdis", repository, "VDI");
  await attachDisk(work, vm, iso, { isCd: true, isReadOnly: true });
}

/** Makes and changes the disks of a new machine. */
async function applyDisks(
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

/** Removes and makes the interfaces of a new machine. Fills in the devices that were not named. */
async function applyInterfaces(
  work: Work,
  vm: XoRecord,
  wishes: readonly VifWish[],
): Promise<void> {
  const { state } = work;
  const named = new Set(wishes.map(({ device }) => device));
  for (const vif of listInterfaces(state, vm.id)) {
    if (named.has(String(vif["device"]))) await destroyInterface(work, vif, vm);
  }
  for (const wish of wishes) {
    if (wish.destroy === true) continue;
    const network = wish.network === undefined ? undefined : state.read("networks", wish.network);
    if (network?.["$pool"] !== vm["$pool"] || network === undefined) {
      throw noSuchObject(wish.network);
    }
    const taken = new Set(listInterfaces(state, vm.id).map((vif) => String(vif["device"])));
    const others = wishes.flatMap(({ device }) => device ?? []);
    wish.device ??= findFree(new Set([...taken, ...others]));
    await createInterface(work, vm, {
      network,
      device: wish.device,
      ...(wish.mac !== undefined && { mac: wish.mac }),
      ...(wish.mtu !== undefined && { mtu: wish.mtu }),
      ...(wish.ipv4_allowed && { ipv4: wish.ipv4_allowed }),
      ...(wish.ipv6_allowed && { ipv6: wish.ipv6_allowed }),
    });
  }
}

const NAME = "XO CloudConfigDrive";
const SIZE_BYTES = 10 * 1024 * 1024;

/** Makes the disk, fills it and attaches it. That it could not be filled is no error. */
async function addCloudConfig(work: Work, vm: XoRecord, body: CreateBody): Promise<void> {
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
