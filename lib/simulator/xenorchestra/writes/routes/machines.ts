/**
 * The routes of virtual machines and templates: create, change, tag, start and stop, delete.
 * @module
 */
import type { Hono } from "hono";
import type { XoRecord } from "../../records.ts";
import { readIds, toOperation, type Backend, type Work } from "../backend.ts";
import { type CreateBody, CREATE_SHAPE } from "../create/body.ts";
import { createVm } from "../create/create_vm.ts";
import { deleteTemplate, deleteVm, findMachine } from "../steps/deletion.ts";
import { changeFields, PATCH_SHAPE, toFieldChange } from "../steps/fields.ts";
import { changePower, POWER_RULES } from "../steps/power.ts";
import { BASE, type Env, runAction, toBodyHandler, toDone, toHandler } from "./route.ts";

/** Adds them. */
export function addMachineRoutes(app: Hono<Env>, backend: Backend): void {
  addCreation(app, backend);
  addChanges(app, backend);
  addPower(app, backend);
  for (const collection of ["vms", "vm-templates"] as const) addTags(app, backend, collection);
}

function addCreation(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/pools/:id/actions/create_vm`,
    toBodyHandler<CreateBody>(backend, CREATE_SHAPE, async (c, work, body) => {
      const pool = work.find("pools", c.req.param("id"), "pool");
      const about = { name: "REST API: create VM", objectType: "pool", objectId: pool.id };
      const action = (): Promise<unknown> => createVm(work, pool.id, body);
      return await runAction(c, work, { ...about, args: body }, action, 201);
    }),
  );
}

function addChanges(app: Hono<Env>, backend: Backend): void {
  app.patch(
    `${BASE}/vms/:id`,
    toBodyHandler<object>(backend, PATCH_SHAPE, async (c, work, body) => {
      const vm = findMachine(work, "vms", c.req.param("id") ?? "");
      const changes = Object.entries(body).map(([field, value]) => toFieldChange(field, value));
      await changeFields(work, vm, changes);
      return toDone();
    }),
  );
  app.delete(
    `${BASE}/vms/:id`,
    toHandler(backend, async (c, work) => {
      await deleteVm(work, findMachine(work, "vms", c.req.param("id") ?? ""));
      return toDone();
    }),
  );
  app.delete(
    `${BASE}/vm-templates/:id`,
    toHandler(backend, async (c, work) => {
      await deleteTemplate(work, findMachine(work, "vm-templates", c.req.param("id") ?? ""));
      return toDone();
    }),
  );
}

function addPower(app: Hono<Env>, backend: Backend): void {
  for (const action of POWER_RULES.keys()) {
    app.post(
      `${BASE}/vms/:id/actions/${action}`,
      toBodyHandler<{ hostId?: string }>(
        backend,
        action === "start" ? { hostId: { type: "string" } } : {},
        async (c, work, body) => {
          const vm = findMachine(work, "vms", c.req.param("id") ?? "");
          const name = `REST API: ${action.replaceAll("_", " ")} VM`;
          const about = { name, objectType: "VM", objectId: vm.id, args: body };
          return await runAction(c, work, about, () => changePower(work, vm, action, body.hostId));
        },
      ),
    );
  }
}

function addTags(app: Hono<Env>, backend: Backend, collection: "vms" | "vm-templates"): void {
  const path = `${BASE}/${collection}/:id/tags/:tag`;
  const change = (work: Work, machine: XoRecord, toTags: (tags: readonly string[]) => string[]) =>
    work.call(toOperation("VM.set_tags", machine), () => {
      machine["tags"] = toTags(readIds(machine, "tags"));
    });
  app.put(
    path,
    toHandler(backend, async (c, work) => {
      const machine = findMachine(work, collection, c.req.param("id") ?? "");
      const tag = c.req.param("tag") ?? "";
      await change(work, machine, (tags) => [...new Set([...tags, tag])]);
      return toDone();
    }),
  );
  app.delete(
    path,
    toHandler(backend, async (c, work) => {
      const machine = findMachine(work, collection, c.req.param("id") ?? "");
      const tag = c.req.param("tag");
      await change(work, machine, (tags) => tags.filter((one) => one !== tag));
      return toDone();
    }),
  );
}
