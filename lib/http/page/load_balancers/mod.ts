/**
 * The HTML pages of load balancers: the list, and a page for each, for requests that ask for HTML.
 * @module
 */
import { Hono } from "hono";
import type { Context } from "hono";
import type { DebugOptions } from "../../debug.ts";
import type { LoadBalancerSource } from "../../load_balancers/views.ts";
import { LOAD_BALANCERS_PATH } from "../../load_balancers/routes.ts";
import { inPieces, passOn, wantsPage } from "../../replies.ts";
import type { Place } from "../layout.tsx";
import { renderLoadBalancerPage, renderNoLoadBalancerPage } from "./detail_page.tsx";
import { type LoadBalancerRow, renderLoadBalancerList, toLoadBalancerRow } from "./list_page.tsx";
import { isLoadBalancerState } from "./state.ts";

/** What the pages need. */
interface LoadBalancerPageRoutes extends Pick<DebugOptions, "now" | "readStatus"> {
  readonly loadBalancers: LoadBalancerSource;
  /** The pages that there are. */
  readonly places: readonly Place[];
  /** Headers of each page. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Longest text of a search. */
const QUERY_LENGTH_MAX = 200;

/** Routes for the HTML pages. They pass on requests that do not ask for HTML. */
export function createLoadBalancerPageRoutes(options: LoadBalancerPageRoutes): Hono {
  const { loadBalancers, headers, places, now } = options;
  const routes = new Hono();
  routes.get(LOAD_BALANCERS_PATH, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    return context.html(await renderList(context, options), 200, headers);
  });
  routes.get(`${LOAD_BALANCERS_PATH}/:namespace/:name`, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const base = "../../";
    const view = loadBalancers.find(key);
    if (view === undefined) {
      return context.html(await renderNoLoadBalancerPage(key, { base, places }), 404, headers);
    }
    const page = await renderLoadBalancerPage({ view, nowMs: now(), base, places });
    return context.html(page, 200, headers);
  });
  return routes;
}

async function renderList(context: Context, options: LoadBalancerPageRoutes): Promise<string> {
  const { loadBalancers, places, now, readStatus } = options;
  const state = context.req.query("state") ?? "";
  const query = (context.req.query("q") ?? "").trim().slice(0, QUERY_LENGTH_MAX);
  const { election } = readStatus?.() ?? {};
  const rows: LoadBalancerRow[] = [];
  for await (const piece of inPieces(loadBalancers.list())) {
    rows.push(...piece.map(toLoadBalancerRow));
  }
  return await renderLoadBalancerList({
    rows,
    leftovers: loadBalancers.listLeftovers(),
    pools: loadBalancers.listPools(),
    nowMs: now(),
    base: "",
    places,
    ...(election && { election }),
    ...(isLoadBalancerState(state) && { state }),
    ...(query !== "" && { query }),
  });
}
