/**
 * `/debug/process`: what this process runs, and what it waits for.
 * @module
 */
import { Hono } from "hono";
import { showView } from "./replies.ts";
import { formatTable } from "./text_table.ts";
import type { ProcessView } from "./views.ts";

/** Path of the page. */
export const PROCESS_PATH = "/debug/process";

/** The route of the page, which gives JSON, or with `?format=text` tables. Like the others, it checks no access. */
export function createProcessRoutes(read: () => ProcessView): Hono {
  const routes = new Hono();
  routes.get(PROCESS_PATH, (context) => {
    const view = read();
    return showView(context, view, () => formatProcess(view));
  });
  return routes;
}

function formatProcess({ elections, controllers, kinds }: ProcessView): string {
  const tables = [
    formatTable(
      ["CONTROLLER", "RUNS", "LEASE"],
      controllers.map(({ name, isRunning, lease = "" }) => [name, isRunning ? "yes" : "no", lease]),
    ),
    formatTable(
      ["LEASE", "LEADS", "HOLDER"],
      elections.map(({ lease, isLeading, holder }) => [lease, isLeading ? "yes" : "no", holder]),
    ),
    formatTable(
      ["KIND", "STATE", "ONLY"],
      kinds.map(({ kind, state, selection = "" }) => [kind, state, selection]),
    ),
  ];
  return tables.join("\n");
}
