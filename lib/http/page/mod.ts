/**
 * The HTML pages: `/debug/`, and a page for each Node, for requests that ask for HTML.
 * @module
 */
import { Hono } from "hono";
import type { Context } from "hono";
import { inPieces, passOn, wantsHtml, wantsPage } from "../replies.ts";
import type { DebugOptions } from "../debug.ts";
import type { NodeView } from "../views.ts";
import { renderFleetPage } from "./fleet_page.tsx";
import { createPageHeaders, type Place } from "./layout.tsx";
import { createLoadBalancerPageRoutes } from "./load_balancers/mod.ts";
import { renderNodePage, renderNoNodePage } from "./node_page.tsx";
import { isStateName } from "./state.ts";

/** Longest text of a search. */
const QUERY_LENGTH_MAX = 200;

/** What the pages need. */
interface PageOptions extends DebugOptions {
  /** The pages that there are. */
  readonly places: readonly Place[];
}

/**
 * Routes for the HTML pages. They come before those for programs, and pass on requests that do not ask for HTML.
 *
 * The pages load nothing from other servers and need no script; a few lines of script keep them up to date.
 */
export function createPageRoutes(options: PageOptions): Hono {
  const routes = new Hono();
  const headers = createPageHeaders();
  const { loadBalancers, places } = options;
  if (loadBalancers) {
    routes.route("/", createLoadBalancerPageRoutes({ ...options, loadBalancers, headers }));
  }
  const show = async (context: Context, page: Promise<string>, code: 200 | 404 = 200) =>
    context.html(await page, code, headers);
  for (const [path, base] of [
    ["/debug", "debug/"],
    ["/debug/", ""],
  ] as const) {
    routes.get(path, async (context, next) =>
      wantsHtml(context.req.header("accept"))
        ? await show(context, renderFleet(context, options, base))
        : await passOn(context, next),
    );
  }
  routes.get("/debug/nodes/:name", async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const name = context.req.param("name");
    const node = options.findNode(name);
    if (node === undefined) return await show(context, renderNoNodePage(name, "../"), 404);
    const page = { node, nowMs: options.now(), base: "../", places };
    return await show(context, renderNodePage(page));
  });
  return routes;
}

async function renderFleet(context: Context, options: PageOptions, base: string): Promise<string> {
  const state = context.req.query("state") ?? "";
  const query = (context.req.query("q") ?? "").trim().slice(0, QUERY_LENGTH_MAX);
  const status = options.readStatus?.();
  const nodes: NodeView[] = [];
  for await (const piece of inPieces(options.listNodes())) nodes.push(...piece);
  return await renderFleetPage({
    nodes,
    inventory: options.readInventory(),
    nowMs: options.now(),
    base,
    places: options.places,
    ...(status ? { status } : {}),
    ...(isStateName(state) ? { state } : {}),
    ...(query === "" ? {} : { query }),
  });
}
