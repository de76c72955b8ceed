/**
 * `/debug`: what Landfall knows about each Node and about the cloud, for people with a terminal.
 * @module
 */
import { Hono } from "hono";
import type { Context } from "hono";
import { formatSpan, toMs } from "./span.ts";
import { formatTable } from "./text_table.ts";
import type { InventoryView, NodeView, StatusView } from "./views.ts";

/** Where the debug pages get what they show. All of it is in memory. */
export interface DebugOptions {
  listNodes(): readonly NodeView[];
  findNode(name: string): NodeView | undefined;
  readInventory(): InventoryView;
  /** Absent: the page for people does not tell which process answers. */
  readStatus?(): StatusView;
  /** Wall-clock milliseconds. */
  now(): number;
}

const NODE_TITLES = [
  "NAME",
  "READY",
  "PRESENCE",
  "REASON",
  "MATCHED-BY",
  "INSTANCE",
  "STATE",
  "PROVIDER-ID",
  "DELETION",
  "LAST",
  "AGO",
  "NEXT",
  "ERROR",
] as const;

/**
 * Routes for the debug pages: `/debug/nodes`, `/debug/nodes/<name>` and `/debug/inventory`.
 *
 * All give JSON; `?format=text` gives a table instead. There is no access control: serve them to this machine only.
 */
export function createDebugRoutes(options: DebugOptions): Hono {
  const routes = new Hono();
  routes.get("/debug/nodes", (context) => {
    const nodes = options.listNodes().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return show(context, { nodes }, () => formatNodes(nodes, options.now()));
  });
  routes.get("/debug/nodes/:name", (context) => {
    const name = context.req.param("name");
    const node = options.findNode(name);
    if (node === undefined) {
      return context.json({ error: `there is no Node ${JSON.stringify(name)}` }, 404);
    }
    return show(context, node, () => formatNodes([node], options.now()));
  });
  routes.get("/debug/inventory", (context) => {
    const inventory = options.readInventory();
    return show(context, inventory, () => formatInventory(inventory));
  });
  return routes;
}

function show(context: Context, view: object, format: () => string): Response {
  const wanted = context.req.query("format") ?? "json";
  if (wanted === "text") return context.text(format());
  if (wanted === "json") {
    // Indented, since it is read with curl more often than by a program.
    return context.body(`${JSON.stringify(view, undefined, 2)}\n`, 200, {
      "content-type": "application/json",
    });
  }
  return context.json({ error: 'wanted format "json" or "text"' }, 400);
}

function formatNodes(nodes: readonly NodeView[], nowMs: number): string {
  const rows = nodes.map((node) => [
    node.name,
    node.ready,
    node.presence.kind,
    node.presence.reason ?? "",
    node.matchedBy ?? "",
    node.instance?.name ?? "",
    node.instance?.state ?? "",
    node.providerId ?? "",
    [node.deletion?.state, node.deletion?.reason].filter(Boolean).join(":"),
    node.lastReconcile?.outcome ?? "",
    formatSpan(nowMs - toMs(node.lastReconcile?.at)),
    formatSpan(toMs(node.nextReconcileAt) - nowMs),
    node.lastReconcile?.error ?? "",
  ]);
  return formatTable(NODE_TITLES, rows);
}

function formatInventory(view: InventoryView): string {
  const facts = [
    ["age", view.ageSeconds === null ? "" : `${Math.round(view.ageSeconds)}s`],
    ["observed at", view.observedAt ?? ""],
    ["last error", view.lastError ?? ""],
    [
      "last refresh",
      view.lastRefreshDurationMs === undefined ? "" : `${view.lastRefreshDurationMs} ms`,
    ],
    ...Object.entries(view.counts).map(([name, count]) => [name, String(count)]),
  ];
  const coverage = view.coverage.map(({ id, name, complete, reason }) => [
    id,
    name ?? "",
    complete ? "yes" : "no",
    reason ?? "",
  ]);
  return `${formatTable(["FACT", "VALUE"], facts)}\n${formatTable(["PART", "NAME", "COMPLETE", "REASON"], coverage)}`;
}
