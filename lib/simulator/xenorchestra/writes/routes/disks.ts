/**
 * The routes of disks and their attachments.
 * @module
 */
import type { Context, Hono } from "hono";
import type { XoRecord } from "../../records.ts";
import { toOperation, type Backend, type Work } from "../backend.ts";
import type { BodyShape } from "./bodies.ts";
import {
  attachDisk,
  createDisk,
  destroyDisk,
  type DiskWish,
  dropAttachment,
  growDisk,
} from "../steps/disks.ts";
import { XapiError } from "../errors.ts";
import { BASE, type Env, toDone, toMade, toNeed, createRoute } from "./route.ts";

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
      toNeeds: (_c, _work, object) => [{ resource: "vdi", action: "create", object }],
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

function addContents(app: Hono<Env>, backend: Backend): void {
  const findSr = (c: Context<Env>, work: Work) => work.find("srs", c.req.param("id"), "SR");
  app.post(
    `${BASE}/srs/:id/vdis`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("sr", "import:vdi", findSr(c, work))],
      handle: async (c, work) => {
        const content = new Uint8Array(await c.req.arrayBuffer());
        const name = c.req.query("name_label") ?? "";
        const description = c.req.query("name_description") ?? "";
        const wish = { name, sizeBytes: content.length, sr: findSr(c, work), description };
        return toMade("vdis", await createFilled(work, wish, content), true);
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
      toNeeds: (c, work) => [toNeed("vdi", "update", find(c, work))],
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
