/**
 * The routes of virtual machines and templates: create, change, tag, start and stop, delete.
 * @module
 */
import type { XoRecord } from "../records.ts";
import { type Backend, readIds, toOperation, type Work } from "./backend.ts";
import { CREATE_SHAPE, type CreateBody, createVm, toCreateNeeds } from "./create.ts";
import { changeFields, PATCH_SHAPE, toFieldChange } from "./fields.ts";
import {
  changePower,
  deleteTemplate,
  deleteVm,
  findMachine,
  POWER_RULES,
  type PowerRule,
  takeSnapshot,
} from "./power.ts";
import {
  BASE,
  type BodyShape,
  createRoute,
  type Env,
  runAction,
  toChangeNeeds,
  toDone,
  toHostNeeds,
  toNeed,
} from "./route.ts";
import type { Context, Hono } from "hono";

/** Adds them. */
export function addMachineRoutes(app: Hono<Env>, backend: Backend): void {
  addCreation(app, backend);
  addChanges(app, backend);
  for (const [action, rule] of POWER_RULES) addPower(app, backend, action, rule);
  addSnapshots(app, backend);
  for (const collection of ["vms", "vm-templates"] as const) addTags(app, backend, collection);
}

function findVm(c: Context<Env>, work: Work): XoRecord {
  return findMachine(work, "vms", c.req.param("id") ?? "");
}

function findTemplate(c: Context<Env>, work: Work): XoRecord {
  return findMachine(work, "vm-templates", c.req.param("id") ?? "");
}

function addCreation(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/pools/:id/actions/create_vm`,
    createRoute<CreateBody>(backend, {
      toNeeds: (c, work, body) => toCreateNeeds(work, c.req.param("id") ?? "", body),
      shape: CREATE_SHAPE,
      handle: async (c, work, body) => {
        const pool = work.find("pools", c.req.param("id"), "pool");
        const about = { name: "REST API: create VM", objectType: "pool", objectId: pool.id };
        const action = (): Promise<unknown> => createVm(work, pool.id, body);
        return await runAction(c, work, { ...about, args: body }, action, 201);
      },
    }),
  );
}

function addChanges(app: Hono<Env>, backend: Backend): void {
  app.patch(
    `${BASE}/vms/:id`,
    createRoute<object>(backend, {
      toNeeds: (c, work, body) =>
        toChangeNeeds("vm", findVm(c, work), { body, shape: PATCH_SHAPE }),
      shape: PATCH_SHAPE,
      handle: async (c, work, body) => {
        const changes = Object.entries(body).map(([field, value]) => toFieldChange(field, value));
        await changeFields(work, findVm(c, work), changes);
        return toDone();
      },
    }),
  );
  app.delete(
    `${BASE}/vms/:id`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vm", "delete", findVm(c, work))],
      handle: async (c, work) => {
        await deleteVm(work, findVm(c, work));
        return toDone();
      },
    }),
  );
  app.delete(
    `${BASE}/vm-templates/:id`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vm-template", "delete", findTemplate(c, work))],
      handle: async (c, work) => {
        await deleteTemplate(work, findTemplate(c, work));
        return toDone();
      },
    }),
  );
}

function addPower(app: Hono<Env>, backend: Backend, action: string, rule: PowerRule): void {
  const shape: BodyShape = action === "start" ? { hostId: { type: "string" } } : {};
  app.post(
    `${BASE}/vms/:id/actions/${action}`,
    createRoute<{ readonly hostId?: string }>(backend, {
      toNeeds: (c, work, body) => [
        toNeed("vm", rule.privilege, findVm(c, work)),
        ...(action === "start" ? toHostNeeds(work, Object(body).hostId) : []),
      ],
      shape,
      handle: async (c, work, body) => {
        const vm = findVm(c, work);
        const name = `REST API: ${action.replaceAll("_", " ")} VM`;
        // Only a start has a body.
        const args = action === "start" ? { args: body } : {};
        const about = { name, objectType: "VM", objectId: vm.id, ...args };
        return await runAction(c, work, about, () => changePower(work, vm, action, body.hostId));
      },
    }),
  );
}

function addSnapshots(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/vms/:id/actions/snapshot`,
    createRoute<{ readonly name_label?: string }>(backend, {
      toNeeds: (c, work) => [toNeed("vm", "snapshot", findVm(c, work))],
      shape: { name_label: { type: "string" } },
      handle: async (c, work, body) => {
        const vm = findVm(c, work);
        const about = { name: "REST API: snapshot VM", objectType: "VM", objectId: vm.id };
        const action = (): Promise<unknown> => takeSnapshot(work, vm, body.name_label);
        return await runAction(c, work, { ...about, args: body }, action, 201);
      },
    }),
  );
}

function addTags(app: Hono<Env>, backend: Backend, collection: "vms" | "vm-templates"): void {
  const resource = collection === "vms" ? "vm" : "vm-template";
  const find = (c: Context<Env>, work: Work): XoRecord =>
    collection === "vms" ? findVm(c, work) : findTemplate(c, work);
  const toChange = (change: (tags: readonly string[], tag: string) => string[]) =>
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed(resource, "update:tags", find(c, work))],
      handle: async (c, work) => {
        const machine = find(c, work);
        const tag = c.req.param("tag") ?? "";
        await work.call(toOperation("VM.set_tags", machine), () => {
          machine["tags"] = change(readIds(machine, "tags"), tag);
        });
        return toDone();
      },
    });
  const path = `${BASE}/${collection}/:id/tags/:tag`;
  app.put(
    path,
    toChange((tags, tag) => [...new Set([...tags, tag])]),
  );
  app.delete(
    path,
    toChange((tags, tag) => tags.filter((one) => one !== tag)),
  );
}
