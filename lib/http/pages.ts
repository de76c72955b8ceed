/**
 * All pages of one listener, put together.
 * @module
 */
import { Hono } from "hono";
import type { Logger } from "../core/log.ts";
import { createDebugRoutes } from "./debug.ts";
import type { DebugOptions } from "./debug.ts";
import { createLoadBalancerRoutes, LOAD_BALANCERS_PATH } from "./load_balancers/routes.ts";
import { createObjectRoutes, type ObjectPages } from "./object_pages.ts";
import { createPageHeaders, type Place } from "./page/layout.tsx";
import { createPageRoutes } from "./page/mod.ts";
import { createSipClusterPageRoutes } from "./page/sip_clusters/mod.ts";
import { createVinoPageRoutes } from "./page/vinos/mod.ts";
import { createProbeRoutes } from "./probes.ts";
import type { ProbeOptions } from "./probes.ts";
import { createProcessRoutes, PROCESS_PATH } from "./process_page.ts";
import type { ProcessView } from "./views.ts";
import {
  createSipClusterRoutes,
  SIP_CLUSTERS_PATH,
  type SipClusterPagesOptions,
} from "./sip_clusters/routes.ts";
import { createVinoRoutes, type VinoPagesOptions, VINOS_PATH } from "./vinos/routes.ts";

/** The pages of a listener. */
export interface PagesOptions {
  readonly probes: ProbeOptions;
  /** Absent: probes and metrics only. */
  readonly debug?: DebugOptions;
  /** What the process runs and waits for; absent: there is no such page. */
  readonly readProcess?: () => ProcessView;
  /** Absent: there are no pages about SIPClusters. */
  readonly sipClusters?: SipClusterPagesOptions;
  /** Absent: there are no pages about Vinos. */
  readonly vinos?: VinoPagesOptions;
  /** Kinds of objects that have pages of their own. @default {none} */
  readonly objects?: readonly ObjectPages[];
  /** Flags and their values for `/configz`; absent: there is no such page. */
  readonly configz?: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** All pages, with a list of them at `/`. A page that throws is logged, and answers 500 without the reason. */
export function createPages({ probes, log, ...more }: PagesOptions): Hono {
  const { debug, sipClusters, vinos, readProcess, objects = [], configz } = more;
  const pages = new Hono();
  pages.route("/", createProbeRoutes(probes));
  const places = listPlaces(more);
  // HTML pages come first: they pass on requests that do not ask for HTML.
  if (sipClusters !== undefined) {
    const shared = { ...sipClusters, places, headers: createPageHeaders() };
    pages.route("/", createSipClusterPageRoutes(shared));
    pages.route("/", createSipClusterRoutes(shared));
  }
  if (vinos !== undefined) {
    pages.route("/", createVinoPageRoutes({ ...vinos, places, headers: createPageHeaders() }));
    pages.route("/", createVinoRoutes(vinos));
  }
  if (debug !== undefined) {
    pages.route("/", createPageRoutes({ ...debug, places }));
    pages.route("/", createDebugRoutes(debug));
    const { loadBalancers, now } = debug;
    if (loadBalancers) pages.route("/", createLoadBalancerRoutes({ loadBalancers, now }));
  }
  const paths = ["/healthz", "/livez", "/readyz", "/metrics"];
  if (debug !== undefined) paths.push("/debug/", "/debug/nodes", "/debug/inventory");
  if (debug?.loadBalancers) paths.push(LOAD_BALANCERS_PATH);
  if (readProcess) {
    paths.push(PROCESS_PATH);
    pages.route("/", createProcessRoutes(readProcess));
  }
  if (sipClusters !== undefined) paths.push(SIP_CLUSTERS_PATH);
  if (vinos !== undefined) paths.push(VINOS_PATH);
  for (const kind of objects) {
    paths.push(`/debug/${kind.plural}`);
    pages.route("/", createObjectRoutes(kind));
  }
  if (configz !== undefined) {
    paths.push("/configz");
    pages.get("/configz", (context) => context.json(toConfigz(configz)));
  }
  pages.get("/", (context) => context.text(paths.map((path) => `${path}\n`).join("")));
  pages.notFound((context) => context.text("404 page not found\n", 404));
  pages.onError((error, context) => {
    log.error("page failed", { path: context.req.path, error });
    return context.text("internal server error\n", 500);
  });
  return pages;
}

function listPlaces({
  debug,
  sipClusters,
  vinos,
}: Pick<PagesOptions, "debug" | "sipClusters" | "vinos">): readonly Place[] {
  return [
    ...(debug === undefined ? [] : (["nodes"] as const)),
    ...(debug?.loadBalancers === undefined ? [] : (["loadBalancers"] as const)),
    ...(sipClusters === undefined ? [] : (["sipClusters"] as const)),
    ...(vinos === undefined ? [] : (["vinos"] as const)),
  ];
}

/** As cloud controller managers show it, with flags in place of their groups of settings. */
function toConfigz(flags: Readonly<Record<string, string>>): object {
  const kind = "CloudControllerManagerConfiguration";
  return { "cloudcontrollermanager.config.k8s.io": { kind, flags } };
}
