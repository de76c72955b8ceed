/**
 * `/debug`: what Landfall knows about each Node and about the cloud, for operators with a terminal.
 * @module
 */
import { Hono } from "hono";
import type { Context } from "hono";
import { escapeInvisible } from "../core/text/printable.ts";
import { NODE_COLUMNS } from "./node_columns.ts";
import { inPieces } from "./pieces.ts";
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
  /** Wall-clock milliseconds. */
  now(): number;
}

type Pieces = AsyncGenerator<readonly NodeView[], void>;

const JSON_TYPE = { "content-type": "application/json" };
const JSON_INDENT = 2;

/**
 * Routes for the debug pages: `/debug/nodes`, `/debug/nodes/<name>` and `/debug/inventory`.
 *
 * All give JSON; `?format=text` gives a table instead. The routes check no access: access.ts does that, or the listener
 * is reachable only from this machine.
 */
export function createDebugRoutes(options: DebugOptions): Hono {
  const routes = new Hono();
  routes.get("/debug/nodes", (context) => {
    const nodes = inPieces(options.listNodes());
    return show(context, {
      toJson: () => context.body(toStream(toNodesJson(nodes)), 200, JSON_TYPE),
      toText: () => formatNodes(nodes, options.now()),
    });
  });
  routes.get("/debug/nodes/:name", async (context) => {
    const name = context.req.param("name");
    const node = options.findNode(name);
    if (node === undefined) {
      return context.json({ error: `there is no Node ${JSON.stringify(name)}` }, 404);
    }
    return await showView(context, node, () => formatNodes(inPieces([node]), options.now()));
  });
  routes.get("/debug/inventory", (context) => {
    const inventory = options.readInventory();
    return showView(context, inventory, () => formatInventory(inventory));
  });
  return routes;
}

interface Formats {
  toJson(): Response;
  toText(): string | Promise<string>;
}

async function show(context: Context, { toJson, toText }: Formats): Promise<Response> {
  const wanted = context.req.query("format") ?? "json";
  if (wanted === "text") return context.text(await toText());
  if (wanted === "json") return toJson();
  return context.json({ error: 'format: must be "json" or "text"' }, 400);
}

function showView(context: Context, view: object, toText: Formats["toText"]): Promise<Response> {
  const toJson = (): Response => context.body(`${formatJson(view)}\n`, 200, JSON_TYPE);
  return show(context, { toJson, toText });
}

/** Indented, because operators read it with curl more often than programs do. */
function formatJson(view: object): string {
  return escapeInvisible(JSON.stringify(view, undefined, JSON_INDENT));
}

/** `{"nodes": […]}` in pieces: for a large fleet it has many megabytes. */
async function* toNodesJson(nodes: Pieces): AsyncGenerator<string, void> {
  const blanks = " ".repeat(2 * JSON_INDENT);
  let before = "";
  yield `{\n  "nodes": [`;
  for await (const piece of nodes) {
    let text = "";
    for (const node of piece) {
      text += `${before}\n${blanks}${formatJson(node).replaceAll("\n", `\n${blanks}`)}`;
      before = ",";
    }
    yield text;
  }
  yield before === "" ? "]\n}\n" : "\n  ]\n}\n";
}

function toStream(texts: AsyncGenerator<string, void>): ReadableStream {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return();
    },
  });
}

async function formatNodes(nodes: Pieces, nowMs: number): Promise<string> {
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
