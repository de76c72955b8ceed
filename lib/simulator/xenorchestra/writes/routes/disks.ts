/**
 * The routes of disks and their attachments.
 * @module
 */
import type { Context, Hono } from "hono";
import type { XoRecord } from "../../records.ts";
import { toOperation, type Backend, type Work } from "../backend.ts";
import type { BodyShape } from "./bodies.ts";
import { attachDisk, createDisk, destroyDisk, dropAttachment, growDisk } from "../steps/disks.ts";
import { XapiError } from "../errors.ts";
import { BASE, type Env, toBodyHandler, toDone, toHandler, toMade } from "./route.ts";
import { toJson, toUnknownRoute } from "../../replies.ts";

interface VdiBody {
  readonly srId: string;
  readonly virtual_size: number;
  readonly name_label: string;
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

const RAW = ".raw";

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
    toBodyHandler<VdiBody>(backend, CREATE, async (_c, work, body) => {
      const disk = await createDisk(work, {
        name: body.name_label,
        sizeBytes: body.virtual_size,
        sr: work.find("srs", body.srId, "SR"),
        description: body.name_description ?? "",
        tags: body.tags ?? [],
        otherConfig: body.other_config ?? {},
      });
      return toMade("vdis", disk, true);
    }),
  );
}

function addContents(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/srs/:id/vdis`,
    toHandler(backend, async (c, work) => {
      const sr = work.find("srs", c.req.param("id"), "SR");
      const content = new Uint8Array(await c.req.arrayBuffer());
      const name = c.req.query("name_label") ?? "";
      const description = c.req.query("name_description") ?? "";
      const disk = await createDisk(work, { name, sizeBytes: content.length, sr, description });
      await fill(work, disk, content).catch(async (error: unknown) => {
        work.life.throwIfAborted();
        await destroyDisk(work, disk).catch(() => work.life.throwIfAborted());
        throw error;
      });
      return toMade("vdis", disk, true);
    }),
  );
  app.put(
    `${BASE}/vdis/:file`,
    toHandler(backend, async (c, work) => {
      const file = c.req.param("file") ?? "";
      if (!file.endsWith(RAW)) return toUnknownRoute(c.req.method, c.req.path);
      const disk = work.find("vdis", file.slice(0, -RAW.length), "VDI");
      await fill(work, disk, new Uint8Array(await c.req.arrayBuffer()));
      return toDone();
    }),
  );
}

async function fill(work: Work, disk: XoRecord, content: Uint8Array): Promise<void> {
  await work.call(toOperation("VDI.import", disk), () => {
    if (content.length > Number(disk["size"])) throw new XapiError("VDI_TOO_LARGE");
    work.backend.contents.set(disk.id, content);
  });
}

function addChanges(app: Hono<Env>, backend: Backend): void {
  app.patch(
    `${BASE}/vdis/:id`,
    toBodyHandler<VdiPatch>(backend, PATCH, async (c, work, body) => {
      const disk = work.find("vdis", c.req.param("id"), "VDI");
      const { size, ...texts } = body;
      if (size !== undefined) await growDisk(work, disk, size);
      for (const [field, text] of Object.entries(texts)) {
        await work.call(toOperation(`VDI.set_${field}`, disk), () => (disk[field] = text));
      }
      return toDone();
    }),
  );
  app.delete(
    `${BASE}/vdis/:id`,
    toHandler(backend, async (c, work) => {
      await destroyDisk(work, work.find("vdis", c.req.param("id"), "VDI"));
      return toDone();
    }),
  );
}

function addAttachments(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/vbds`,
    toBodyHandler<VbdBody>(backend, ATTACH, async (_c, work, body) => {
      const vm = work.find("vms", body.VM, "VM");
      const vbd = await attachDisk(work, vm, work.find("vdis", body.VDI, "VDI"), {
        isReadOnly: body.mode === "RO",
        isBootable: body.bootable ?? false,
        ...(body.userdevice !== undefined && { position: body.userdevice }),
      });
      return toMade("vbds", vbd, true);
    }),
  );
  app.delete(
    `${BASE}/vbds/:id`,
    toHandler(backend, async (c, work) => await detach(c, work)),
  );
}

async function detach(c: Context<Env>, work: Work): Promise<Response> {
  const vbd = work.find("vbds", c.req.param("id"), "VBD");
  const vm = work.state.all("vms").get(String(vbd["VM"]));
  if (vm === undefined) return toJson({ error: "no such VM" }, 404);
  await work.call(toOperation("VBD.destroy", vbd, { vm }), () => dropAttachment(work.state, vbd));
  return toDone();
}
