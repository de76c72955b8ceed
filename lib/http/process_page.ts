/**
 * `/debug/process`: what this process runs, and what it waits for.
 * @module
 */
import { Hono } from "hono";
import type { PagesContext } from "./kind_routes.ts";
import type { Section } from "./page/model.ts";
import { showSections } from "./section_replies.ts";
import type { ProcessView } from "./views.ts";

/** Path of the page. */
export const PROCESS_PATH = "/debug/process";

/** The route of the page: HTML, JSON, or with `?format=text` tables. Like the others, it checks no access. */
export function createProcessRoutes(
  read: () => ProcessView,
  { now, ...shared }: PagesContext,
): Hono {
  const routes = new Hono();
  routes.get(PROCESS_PATH, (context) => {
    const view = read();
    const frame = { ...shared, nowMs: now(), base: "" };
    const sections = listSections(view);
    return showSections(context, frame, { title: "This process", path: "process", view, sections });
  });
  return routes;
}

function listSections({ elections, controllers, kinds }: ProcessView): readonly Section[] {
  return [
    {
      kind: "table",
      id: "controllers",
      title: "Controllers",
      columns: ["Controller", "Runs", "Lease"],
      rows: controllers.map(({ name, isRunning, lease = "" }) => ({
        cells: [name, isRunning ? "yes" : "no", lease],
      })),
    },
    {
      kind: "table",
      id: "leases",
      title: "Leases",
      columns: ["Lease", "Leads", "Holder"],
      rows: elections.map(({ lease, isLeading, holder }) => ({
        cells: [lease, isLeading ? "yes" : "no", holder],
      })),
    },
    {
      kind: "table",
      id: "kinds",
      title: "What it reads from Kubernetes",
      columns: ["Kind", "State", "Only"],
      rows: kinds.map(({ kind, state, selection = "" }) => ({ cells: [kind, state, selection] })),
    },
  ];
}
