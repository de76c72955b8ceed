/**
 * The routes that change something, with those of tasks that wait or are aborted.
 * @module
 */
import { toJson } from "../replies.ts";
import type { Backend } from "./backend.ts";
import { addDiskRoutes } from "./disks.ts";
import { addInterfaceRoutes } from "./interfaces.ts";
import { addMachineRoutes } from "./machines.ts";
import { BASE, createRoute, type Env, toDone, toNeed } from "./route.ts";
import type { Hono } from "hono";

/** Adds them. */
export function addWrites(app: Hono<Env>, backend: Backend): void {
  addTaskRoutes(app, backend);
  addMachineRoutes(app, backend);
  addInterfaceRoutes(app, backend);
  addDiskRoutes(app, backend);
}

/** Adds them. */
function addTaskRoutes(app: Hono<Env>, backend: Backend): void {
  app.get(`${BASE}/tasks/:id`, async (c, next) => {
    const wait = c.req.query("wait");
    const id = c.req.param("id");
    const task = backend.state.read("tasks", id);
    // A real server looks for the task first.
    if (task === undefined) return next();
    if (wait !== undefined && wait !== "true" && wait !== "false") {
      const error = { wait: { message: "invalid boolean value", value: wait } };
      return toJson({ error, data: {} }, 422);
    }
    if (wait === "true" && c.get("user") !== undefined && task["status"] === "pending") {
      await backend.tasks.untilChanged(id, backend.life.signal);
    }
    return next();
  });
  app.post(
    `${BASE}/tasks/:id/actions/abort`,
    createRoute(backend, {
      toNeeds: (c, work) => [
        toNeed("task", "abort", work.find("tasks", c.req.param("id"), "task")),
      ],
      handle: () => Promise.resolve(toDone()),
    }),
  );
}
