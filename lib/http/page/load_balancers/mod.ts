/**
 * `/debug/load-balancers`: what Landfall makes for each Service.
 * @module
 */
import type { Hono } from "hono";
import { createKindRoutes, type KindRoutes, type PagesContext } from "../../kind_routes.ts";
import { formatLoadBalancer, showLoadBalancers } from "../../load_balancers/replies.ts";
import type { LoadBalancerSource, LoadBalancerView } from "../../load_balancers/views.ts";
import { inPieces, showView } from "../../replies.ts";
import type { StatusView } from "../../views.ts";
import { renderLoadBalancerPage, renderNoLoadBalancerPage } from "./detail_page.tsx";
import { type LoadBalancerRow, renderLoadBalancerList, toLoadBalancerRow } from "./list_page.tsx";
import { isLoadBalancerState } from "./state.ts";

/** The path of the list. */
export const LOAD_BALANCERS_PATH = "/debug/load-balancers";

/** Longest text of a search. */
const QUERY_LENGTH_MAX = 200;

/** Routes of the list and of each load balancer. */
export function createLoadBalancerRoutes(
  source: LoadBalancerSource,
  pages: PagesContext,
  readStatus: () => Partial<StatusView> = () => ({}),
): Hono {
  const kind: KindRoutes<LoadBalancerView> = {
    path: LOAD_BALANCERS_PATH,
    noun: "load balancer of",
    find: (key) => source.find(key),
    renderList: async (context, frame) => {
      const state = context.req.query("state") ?? "";
      const query = (context.req.query("q") ?? "").trim().slice(0, QUERY_LENGTH_MAX);
      const { election } = readStatus();
      const rows: LoadBalancerRow[] = [];
      for await (const piece of inPieces(source.list())) rows.push(...piece.map(toLoadBalancerRow));
      return await renderLoadBalancerList({
        rows,
        leftovers: source.listLeftovers(),
        pools: source.listPools(),
        ...frame,
        ...(election && { election }),
        ...(isLoadBalancerState(state) && { state }),
        ...(query !== "" && { query }),
      });
    },
    renderOne: (view, _context, frame) => renderLoadBalancerPage({ view, ...frame }),
    renderMissing: renderNoLoadBalancerPage,
    showList: (context, nowMs) => showLoadBalancers(context, source, nowMs),
    showOne: (view, context, nowMs) =>
      showView(context, view, () => formatLoadBalancer(view, nowMs)),
  };
  return createKindRoutes(kind, pages);
}
