/**
 * `/debug`: what Landfall knows about each Node and about the cloud, for browsers, programs and terminals.
 * @module
 */
import { type Context, Hono } from "hono";
import { NODE_COLUMNS } from "./node_columns.ts";
import { type PagesContext, readQuery } from "./kind_routes.ts";
import { toCoverageTable } from "./page/facts.tsx";
import { renderFleetPage } from "./page/fleet_page.tsx";
import { type PageFrame, type Place, showPage } from "./page/layout.tsx";
import type { Section } from "./page/model.ts";
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
import { showSections } from "./section_replies.ts";
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

/** The place of Nodes among the pages. */
export const NODES_PLACE: Place = {
  path: "",
  title: "Nodes",
  forPrograms: [
    ["nodes?format=json", "Nodes as JSON"],
    ["nodes?format=text", "as text"],
    ["inventory", "Inventory"],
  ],
};

/**
 * Routes of Nodes and of the inventory: `/debug/` as HTML only, `/debug/nodes`, `/debug/nodes/<name>` and
 * `/debug/inventory` as HTML, too. Data is JSON; `?format=text` gives a table instead.
 *
 * The pages load nothing from other servers and need no script; a few lines of script keep them up to date. The routes
 * check no access: access.ts does that, or the listener is reachable only from this machine.
 */
export function createDebugRoutes(options: DebugOptions, { now, ...shared }: PagesContext): Hono {
  const routes = new Hono();
  const toFrame = (base: string): PageFrame => ({ ...shared, nowMs: now(), base });
  for (const [path, base] of [
    ["/debug", "debug/"],
    ["/debug/", ""],
  ] as const) {
    routes.get(path, async (context, next) =>
      wantsHtml(context.req.header("accept"))
        ? await showPage(context, await renderFleet(context, options, { frame: toFrame(base) }))
        : await next(),
    );
  }
  routes.get("/debug/nodes", (context) =>
    showEither(context, {
      toPage: async () => {
        const shown = { frame: toFrame(""), isTable: true };
        return await showPage(context, await renderFleet(context, options, shown));
      },
      toData: () => {
        const pieces = inPieces(options.listNodes());
        const toText = (): Promise<string> => formatNodes(pieces, now());
        return showList(context, { name: "nodes", pieces, toText });
      },
    }),
  );
  routes.get("/debug/nodes/:name", (context) => {
    const name = context.req.param("name");
    const node = options.findNode(name);
    const frame = toFrame("../");
    if (node === undefined) {
      return showEither(context, {
        toPage: async () => showPage(context, await renderNoNodePage(name, frame), 404),
        toData: () => showMissing(context, `there is no Node ${JSON.stringify(name)}`),
      });
    }
    return showEither(context, {
      toPage: async () => showPage(context, await renderNodePage(node, frame)),
      toData: () => showView(context, node, () => formatNodes(inPieces([node]), frame.nowMs)),
    });
  });
  routes.get("/debug/inventory", (context) => {
    const inventory = options.readInventory();
    return showSections(context, toFrame(""), {
      title: "Inventory",
      path: "inventory",
      view: inventory,
      sections: listInventorySections(inventory),
    });
  });
  return routes;
}

async function renderFleet(
  context: Context,
  options: DebugOptions,
  { frame, isTable = false }: { readonly frame: PageFrame; readonly isTable?: boolean },
): Promise<string> {
  const state = context.req.query("state") ?? "";
  const query = readQuery(context);
  const status = options.readStatus?.();
  const nodes: NodeView[] = [];
  for await (const piece of inPieces(options.listNodes())) nodes.push(...piece);
  return await renderFleetPage({
    nodes,
    inventory: options.readInventory(),
    ...frame,
    isTable,
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

function listInventorySections(view: InventoryView): readonly Section[] {
  const took = view.lastRefreshDurationMs;
  const facts: readonly (readonly [name: string, value: string])[] = [
    ["age", view.ageSeconds === null ? "" : `${Math.round(view.ageSeconds)}s`],
    ["observed at", view.observedAt ?? ""],
    ["last error", view.lastError ?? ""],
    ["last refresh", took === undefined ? "" : `${took} ms`],
    ...Object.entries(view.counts).map(([name, count]) => [name, String(count)] as const),
  ];
  return [
    {
      kind: "table",
      id: "facts",
      title: "The newest inventory",
      columns: ["Fact", "Value"],
      rows: facts.map((cells) => ({ cells })),
    },
    toCoverageTable(view.coverage),
  ];
}
