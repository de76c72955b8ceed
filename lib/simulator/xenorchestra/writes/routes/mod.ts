/**
 * The routes that change something.
 * @module
 */
import type { Hono } from "hono";
import type { Backend } from "../backend.ts";
import { addDiskRoutes } from "./disks.ts";
import { addInterfaceRoutes } from "./interfaces.ts";
import { addMachineRoutes } from "./machines.ts";
import type { Env } from "./route.ts";
import { addTaskRoutes } from "./tasks.ts";

/** Adds them. */
export function addWrites(app: Hono<Env>, backend: Backend): void {
  addTaskRoutes(app, backend);
  addMachineRoutes(app, backend);
  addInterfaceRoutes(app, backend);
  addDiskRoutes(app, backend);
}
