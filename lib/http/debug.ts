/**
 * `/debug`: what Landfall knows about each Node and about the cloud, for browsers, programs and terminals.
 * @module
 */
import { type Context, Hono } from "hono";
import type { PagesContext } from "./kind_routes.ts";
import { NODE_COLUMNS } from "./node_columns.ts";
import { renderFleetPage } from "./page/fleet_page.tsx";
import { type PageFrame, showPage } from "./page/layout.tsx";
import { renderNodePage, renderNoNodePage } from "./page/node_page.tsx";
import { isStateName } from "./page/state.ts";
import {
  inPieces,
  type Pieces,
  showEither,
  showList,
  showMissing,
  showView,
  wantsHtml,
} from "./replies.ts";
import { formatTable } from "./text_table.ts";
import type { InventoryView, NodeView, StatusView } from "./views.ts";

/** The sources of the debug pages. They read only memory. */
export interface DebugOptions {
  /**
   * In order of name. Each is described when it is read: a caller that reads all must let other work run in between.
   */
  listNodes(): Iterable<NodeView>;
  findNode(name: string): NodeView | undefined;
  readInventory(): InventoryView;
  /** Absent: the HTML page does not show which process answers. */
  readStatus?(): StatusView;
}

/** Longest text of a search. */
const QUERY_LENGTH_MAX = 200;

/**
 * Routes of Nodes and of the inventory: `/debug/` as HTML only, `/debug/nodes/<name>` in both forms, and
 * `/debug/nodes` and `/debug/inventory` as data. Data is JSON; `?format=text` gives a table instead.
 *
 * The pages load nothing from other servers and need no script; a few lines of script keep them up to date. The routes
 * check no access: access.ts does that, or the listener is reachable only from this machine.
 */
export function createDebugRoutes(options: DebugOptions, { now, places }: PagesContext): Hono {
  const routes = new Hono();
  for (const [path, base] of [
    ["/debug", "debug/"],
    ["/debug/", ""],
  ] as const) {
    routes.get(path, async (context, next) =>
      wantsHtml(context.req.header("accept"))
        ? await showPage(
            context,
            await renderFleet(context, options, { nowMs: now(), base, places }),
          )
        : await next(),
    );
  }
  routes.get("/debug/nodes", (context) => {
    const pieces = inPieces(options.listNodes());
    const toText = (): Promise<string> => formatNodes(pieces, now());
    return showList(context, { name: "nodes", pieces, toText });
  });
  routes.get("/debug/nodes/:name", (context) => {
    const name = context.req.param("name");
    const node = options.findNode(name);
    const frame = { nowMs: now(), base: "../", places };
    if (node === undefined) {
      return showEither(context, {
        toPage: async () => showPage(context, await renderNoNodePage(name, frame), 404),
        toData: () => showMissing(context, `there is no Node ${JSON.stringify(name)}`),
      });
    }
    return showEither(context, {
      toPage: async () => showPage(context, await renderNodePage({ node, ...frame })),
      toData: () => showView(context, node, () => formatNodes(inPieces([node]), frame.nowMs)),
    });
  });
  routes.get("/debug/inventory", (context) => {
    const inventory = options.readInventory();
    return showView(context, inventory, () => formatInventory(inventory));
  });
  return routes;
}

async function renderFleet(
  context: Context,
  options: DebugOptions,
  frame: PageFrame,
): Promise<string> {
  const state = context.req.query("state") ?? "";
  const query = (context.req.query("q") ?? "").trim().slice(0, QUERY_LENGTH_MAX);
  const status = options.readStatus?.();
  const nodes: NodeView[] = [];
  for await (const piece of inPieces(options.listNodes())) nodes.push(...piece);
  return await renderFleetPage({
    nodes,
    inventory: options.readInventory(),
    ...frame,
    ...(status && { status }),
    ...(isStateName(state) && { state }),
    ...(query !== "" && { query }),
  });
}

async function formatNodes(nodes: Pieces<NodeView>, nowMs: number): Promise<string> {
  const rows: string[][] = [];
  for await (const piece of nodes) {
    rows.push(...piece.map((node) => NODE_COLUMNS.map(({ format }) => format(node, nowMs))));
  }
  return formatTable(
    NODE_COLUMNS.map(({ title }) => title),
    rows,
  );
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
