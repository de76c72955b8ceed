/**
 * Disks and their attachments: the routes, and what the hypervisor makes, attaches, detaches, grows and destroys.
 * @module
 */
import type { Need } from "../access/privileges.ts";
import type { XoRecord } from "../records.ts";
import type { XenOrchestraState } from "../state.ts";
import { toVbd, toVdi } from "../world/storage.ts";
import { type Backend, readIds, toOperation, type Work } from "./backend.ts";
import { XapiError } from "./errors.ts";
import {
  BASE,
  type BodyShape,
  createRoute,
  type Env,
  toChangeNeeds,
  toDone,
  toMade,
  toNeed,
} from "./route.ts";
import type { Context, Hono } from "hono";

interface VdiBody {
  readonly srId: string;
  readonly virtual_size: number;
  readonly name_label?: string;
  readonly name_description?: string;
  readonly tags?: string[];
  readonly other_config?: Record<string, unknown>;
}

const CREATE: BodyShape = {
  srId: { type: "string", isRequired: true },
  virtual_size: { type: "number", isRequired: true },
  name_label: { type: "string" },
  name_description: { type: "string" },
  tags: { type: "array" },
  other_config: { type: "object" },
};

interface VdiPatch {
  readonly name_label?: string;
  readonly name_description?: string;
  readonly size?: number;
}

const PATCH: BodyShape = {
  name_label: { type: "string" },
  name_description: { type: "string" },
  size: { type: "number" },
};

interface VbdBody {
  readonly VM: string;
  readonly VDI: string;
  readonly mode?: string;
  readonly bootable?: boolean;
  readonly userdevice?: string;
}

const ATTACH: BodyShape = {
  VM: { type: "string", isRequired: true },
  VDI: { type: "string", isRequired: true },
  mode: { type: "string" },
  bootable: { type: "boolean" },
  userdevice: { type: "string" },
};

const RAW = /\.raw$/;

/** Adds them. */
export function addDiskRoutes(app: Hono<Env>, backend: Backend): void {
  addCreation(app, backend);
  addContents(app, backend);
  addChanges(app, backend);
  addAttachments(app, backend);
}

function addCreation(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/vdis`,
    createRoute<VdiBody>(backend, {
      toNeeds: (_c, work, object) => [
        ...toImportNeeds(work, Object(object).srId),
        { resource: "vdi", action: "create", object },
      ],
      shape: CREATE,
      handle: async (_c, work, body) => {
        const disk = await createDisk(work, {
          name: body.name_label ?? "",
          sizeBytes: body.virtual_size,
          sr: work.find("srs", body.srId, "SR"),
          description: body.name_description ?? "",
          tags: body.tags ?? [],
          otherConfig: body.other_config ?? {},
        });
        return toMade("vdis", disk, true);
      },
    }),
  );
}

/** What a disk in a repository needs. @param srId As the body has it; absent: it names none @throws {XoError} 404 */
function toImportNeeds(work: Work, srId: unknown): readonly Need[] {
  return typeof srId === "string" ? [toNeed("sr", "import:vdi", work.find("srs", srId, "SR"))] : [];
}

function addContents(app: Hono<Env>, backend: Backend): void {
  const findSr = (c: Context<Env>, work: Work) => work.find("srs", c.req.param("id"), "SR");
  app.post(
    `${BASE}/srs/:id/vdis`,
    createRoute(backend, {
      toNeeds: (c, work) => toImportNeeds(work, c.req.param("id")),
      handle: async (c, work) => {
        const content = new Uint8Array(await c.req.arrayBuffer());
        const name = c.req.query("name_label") ?? "";
        const description = c.req.query("name_description") ?? "";
        const wish = { name, sizeBytes: content.length, sr: findSr(c, work), description };
        const disk = await createFilled(work, wish, content);
        work.state.catchUp(disk.id);
        return toMade("vdis", disk, true);
      },
    }),
  );
  const findFile = (c: Context<Env>, work: Work) =>
    work.find("vdis", (c.req.param("file") ?? "").replace(RAW, ""), "VDI");
  app.put(
    `${BASE}/vdis/:file{.+\\.raw}`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vdi", "import-content", findFile(c, work))],
      handle: async (c, work) => {
        await fill(work, findFile(c, work), new Uint8Array(await c.req.arrayBuffer()));
        return toDone();
      },
    }),
  );
}

/** A disk that cannot be filled is removed again. */
async function createFilled(work: Work, wish: DiskWish, content: Uint8Array): Promise<XoRecord> {
  const disk = await createDisk(work, wish);
  try {
    await fill(work, disk, content);
  } catch (error) {
    work.life.throwIfAborted();
    await destroyDisk(work, disk).catch(() => work.life.throwIfAborted());
    throw error;
  }
  return disk;
}

async function fill(work: Work, disk: XoRecord, content: Uint8Array): Promise<void> {
  await work.call(toOperation("VDI.import", disk), () => {
    if (content.length > Number(disk["size"])) throw new XapiError("VDI_TOO_LARGE");
    work.backend.contents.set(disk.id, content);
  });
}

function addChanges(app: Hono<Env>, backend: Backend): void {
  const find = (c: Context<Env>, work: Work) => work.find("vdis", c.req.param("id"), "VDI");
  app.patch(
    `${BASE}/vdis/:id`,
    createRoute<VdiPatch>(backend, {
      toNeeds: (c, work, body) => toChangeNeeds("vdi", find(c, work), { body, shape: PATCH }),
      shape: PATCH,
      handle: async (c, work, { size, ...texts }) => {
        const disk = find(c, work);
        if (size !== undefined) await growDisk(work, disk, size);
        for (const [field, text] of Object.entries(texts)) {
          await work.call(toOperation(`VDI.set_${field}`, disk), () => (disk[field] = text));
        }
        return toDone();
      },
    }),
  );
  app.delete(
    `${BASE}/vdis/:id`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vdi", "delete", find(c, work))],
      handle: async (c, work) => {
        await destroyDisk(work, find(c, work));
        return toDone();
      },
    }),
  );
}

function addAttachments(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/vbds`,
    createRoute<VbdBody>(backend, {
      toNeeds: (_c, _work, object) => [{ resource: "vbd", action: "create", object }],
      shape: ATTACH,
      handle: async (_c, work, body) => {
        const vm = work.find("vms", body.VM, "VM");
        const vbd = await attachDisk(work, vm, work.find("vdis", body.VDI, "VDI"), {
          isReadOnly: body.mode === "RO",
          isBootable: body.bootable ?? false,
          ...(body.userdevice !== undefined && { position: body.userdevice }),
        });
        return toMade("vbds", vbd, true);
      },
    }),
  );
  const find = (c: Context<Env>, work: Work) => work.find("vbds", c.req.param("id"), "VBD");
  app.delete(
    `${BASE}/vbds/:id`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vbd", "delete", find(c, work))],
      handle: async (c, work) => {
        const vbd = find(c, work);
        const vm = work.find("vms", String(vbd["VM"]), "VM");
        const { state } = work;
        await work.call(toOperation("VBD.destroy", vbd, { vm }), () => dropAttachment(state, vbd));
        return toDone();
      },
    }),
  );
}

/** What {@linkcode createDisk} makes. */
interface DiskWish {
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
