/**
 * `/debug/sipclusters`: which hosts tenants' clusters have.
 * @module
 */
import type { Context, Hono } from "hono";
import { createKindRoutes, type KindRoutes, type PagesContext } from "../../kind_routes.ts";
import { inPieces } from "../../replies.ts";
import { showSipCluster, showSipClusters } from "../../sip_clusters/replies.ts";
import type { SipClusterSource, SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import type { PageFrame } from "../layout.tsx";
import { renderNoSipClusterPage, renderSipClusterPage } from "./detail_page.tsx";
import { renderSipClusterList } from "./list_page.tsx";

/** The path of the list. */
export const SIP_CLUSTERS_PATH = "/debug/sipclusters";

/** Longest key of a label, with its prefix. */
const KEY_LENGTH_MAX = 317;

/** Routes of the list with all hosts, and of each cluster. */
export function createSipClusterRoutes(source: SipClusterSource, pages: PagesContext): Hono {
  const listHosts = ({ namespace, name }: SipClusterView): SipHostView[] =>
    [...source.listHosts()].filter(({ cluster }) => cluster === `${namespace}/${name}`);
  const kind: KindRoutes<SipClusterView> = {
    path: SIP_CLUSTERS_PATH,
    noun: "SIPCluster",
    find: (key) => source.find(key),
    renderList: (context, frame) => renderList(source, context, frame),
    renderOne: (cluster, _context, frame) =>
      renderSipClusterPage({ cluster, hosts: listHosts(cluster), ...frame }),
    renderMissing: renderNoSipClusterPage,
    showList: (context, nowMs) => showSipClusters(context, source, nowMs),
    showOne: (cluster, context, nowMs) =>
      showSipCluster(context, cluster, listHosts(cluster), nowMs),
  };
  return createKindRoutes(kind, pages);
}

async function renderList(
  source: SipClusterSource,
  context: Context,
  frame: PageFrame,
): Promise<string> {
  const clusters: SipClusterView[] = [];
  for await (const piece of inPieces(source.list())) clusters.push(...piece);
  const hosts: SipHostView[] = [];
  for await (const piece of inPieces(source.listHosts())) hosts.push(...piece);
  const by = (context.req.query("by") ?? "").slice(0, KEY_LENGTH_MAX);
  const shown = { clusters, hosts, serving: source.readServing(), ...frame };
  return await renderSipClusterList({ ...shown, ...(by !== "" && { by }) });
}
