/**
 * `/debug`: what Landfall knows about each Node and about the cloud, for operators with a terminal.
 * @module
 */
import { Hono } from "hono";
import type { LoadBalancerSource } from "./load_balancers/views.ts";
import { NODE_COLUMNS } from "./node_columns.ts";
import { inPieces, type Pieces, showList, showMissing, showView } from "./replies.ts";
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
  /** Absent: no controller makes load balancers, and there are no pages about them. */
  readonly loadBalancers?: LoadBalancerSource;
  /** Absent: the HTML page does not show which process answers. */
  readStatus?(): StatusView;
  /** Wall-clock milliseconds. */
  now(): number;
}

/**
 * Routes for the debug pages: `/debug/nodes`, `/debug/nodes/<name>` and `/debug/inventory`.
 *
 * All give JSON; `?format=text` gives a table instead. The routes check no access: access.ts does that, or the listener
 * is reachable only from this machine.
 */
export function createDebugRoutes(options: DebugOptions): Hono {
  const routes = new Hono();
  routes.get("/debug/nodes", (context) => {
    const pieces = inPieces(options.listNodes());
    const toText = (): Promise<string> => formatNodes(pieces, options.now());
    return showList(context, { name: "nodes", pieces, toText });
  });
  routes.get("/debug/nodes/:name", async (context) => {
    const name = context.req.param("name");
    const node = options.findNode(name);
    if (node === undefined) {
      return await showMissing(context, `there is no Node ${JSON.stringify(name)}`);
    }
    return await showView(context, node, () => formatNodes(inPieces([node]), options.now()));
  });
  routes.get("/debug/inventory", (context) => {
    const inventory = options.readInventory();
    return showView(context, inventory, () => formatInventory(inventory));
  });
  return routes;
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
