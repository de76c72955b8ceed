/**
 * The HTML pages of SIPClusters: the list with all hosts, and a page for each, for requests that ask for HTML.
 * @module
 */
import { Hono } from "hono";
import { inPieces, passOn, wantsPage } from "../../replies.ts";
import {
  listHostsOf,
  SIP_CLUSTERS_PATH,
  type SipClusterPagesOptions,
} from "../../sip_clusters/routes.ts";
import type { SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import type { Place } from "../layout.tsx";
import { renderNoSipClusterPage, renderSipClusterPage } from "./detail_page.tsx";
import { renderSipClusterList } from "./list_page.tsx";

/** What the pages need. */
interface SipClusterPageRoutes extends SipClusterPagesOptions {
  /** Headers of each page. */
  readonly headers: Readonly<Record<string, string>>;
  /** The pages that there are. */
  readonly places: readonly Place[];
}

/** Longest key of a label, with its prefix. */
const KEY_LENGTH_MAX = 317;

/** Routes for the HTML pages. They pass on requests that do not ask for HTML. */
export function createSipClusterPageRoutes(options: SipClusterPageRoutes): Hono {
  const { sipClusters, headers, places, now } = options;
  const routes = new Hono();
  routes.get(SIP_CLUSTERS_PATH, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const clusters: SipClusterView[] = [];
    for await (const piece of inPieces(sipClusters.list())) clusters.push(...piece);
    const hosts: SipHostView[] = [];
    for await (const piece of inPieces(sipClusters.listHosts())) hosts.push(...piece);
    const by = (context.req.query("by") ?? "").slice(0, KEY_LENGTH_MAX);
    const serving = sipClusters.readServing();
    const shown = { clusters, hosts, serving, nowMs: now(), base: "", places };
    const page = await renderSipClusterList({ ...shown, ...(by !== "" && { by }) });
    return context.html(page, 200, headers);
  });
  routes.get(`${SIP_CLUSTERS_PATH}/:namespace/:name`, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const base = "../../";
    const cluster = sipClusters.find(key);
    if (cluster === undefined) {
      return context.html(await renderNoSipClusterPage(key, { base, places }), 404, headers);
    }
    const hosts = listHostsOf(sipClusters, key);
    const page = await renderSipClusterPage({ cluster, hosts, nowMs: now(), base, places });
    return context.html(page, 200, headers);
  });
  return routes;
}
