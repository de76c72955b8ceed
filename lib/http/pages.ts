/**
 * All pages but the probes, put together.
 * @module
 */
import { Hono } from "hono";
import { createDebugRoutes } from "./debug.ts";
import type { DebugOptions } from "./debug.ts";
import { createLoadBalancerRoutes, LOAD_BALANCERS_PATH } from "./load_balancers/routes.ts";
import { createObjectRoutes, type ObjectPages } from "./object_pages.ts";
import { createPageHeaders, type Place } from "./page/layout.tsx";
import { createPageRoutes } from "./page/mod.ts";
import { createSipClusterPageRoutes } from "./page/sip_clusters/mod.ts";
import { createVinoPageRoutes } from "./page/vinos/mod.ts";
import { createProcessRoutes, PROCESS_PATH } from "./process_page.ts";
import type { ProcessView } from "./views.ts";
import {
  createSipClusterRoutes,
  SIP_CLUSTERS_PATH,
  type SipClusterPagesOptions,
} from "./sip_clusters/routes.ts";
import { createVinoRoutes, type VinoPagesOptions, VINOS_PATH } from "./vinos/routes.ts";

/** The pages of a listener. */
interface PagesOptions {
  /** Absent: there are no pages about Nodes. */
  readonly debug?: DebugOptions | undefined;
  /** What the process runs and waits for; absent: there is no such page. */
  readonly readProcess?: (() => ProcessView) | undefined;
  /** Absent: there are no pages about SIPClusters. */
  readonly sipClusters?: SipClusterPagesOptions | undefined;
  /** Absent: there are no pages about Vinos. */
  readonly vinos?: VinoPagesOptions | undefined;
  /** Kinds of objects that have pages of their own. @default {none} */
  readonly objects?: readonly ObjectPages[];
  /** Flags and their values for `/configz`; absent: there is no such page. */
  readonly configz?: Readonly<Record<string, string>> | undefined;
}

/** What one debug page can be asked for. */
type Forms = readonly [path: string, ...more: string[]];

/** What is below the list of objects that have a namespace. */
const KEY = "<namespace>/<name>";

/**
 * The pages, with a list of them and of the probes at `/`, and of what debug pages can be asked for at `/debug/`. They
 * throw what a page throws.
 */
export function createPages(options: PagesOptions): Hono {
  const { debug, sipClusters, vinos, readProcess, objects = [], configz } = options;
  const pages = new Hono();
  const places = listPlaces(options);
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
  if (readProcess) pages.route("/", createProcessRoutes(readProcess));
  for (const kind of objects) pages.route("/", createObjectRoutes(kind));
  if (configz !== undefined) {
    pages.get("/configz", (context) => context.json(toConfigz(configz)));
  }
  const forms = listDebugForms(options);
  const debugPaths = forms.length > 0 ? ["/debug/", ...forms.map(([path]) => path)] : [];
  const others = configz === undefined ? [] : ["/configz"];
  const paths = ["/healthz", "/livez", "/readyz", "/metrics", ...debugPaths, ...others];
  pages.get("/", (context) => context.text(toLines(paths)));
  if (forms.length > 0) {
    for (const path of ["/debug", "/debug/"]) {
      pages.get(path, (context) => context.text(toLines(forms.flat()), 200));
    }
  }
  pages.notFound((context) => context.text("404 page not found\n", 404));
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

/** What programs, and operators with curl, can ask of each debug page. The path of the page comes first. */
function listDebugForms(options: PagesOptions): readonly Forms[] {
  const { debug, readProcess, sipClusters, vinos, objects = [] } = options;
  const all: readonly (Forms | undefined)[] = [
    debug && toForms("/debug/nodes", "<name>"),
    debug && toForms("/debug/inventory"),
    readProcess && toForms(PROCESS_PATH),
    debug?.loadBalancers && toForms(LOAD_BALANCERS_PATH, KEY),
    sipClusters && toForms(SIP_CLUSTERS_PATH, KEY),
    vinos && toForms(VINOS_PATH, KEY),
    ...objects.map(({ plural }): Forms => [`/debug/${plural}`, `/debug/${plural}/<key>`]),
  ];
  return all.filter((forms) => forms !== undefined);
}

function toForms(path: string, below?: string): Forms {
  return [path, `${path}?format=text`, ...(below === undefined ? [] : [`${path}/${below}`])];
}

function toLines(paths: readonly string[]): string {
  return paths.map((path) => `${path}\n`).join("");
}

function listPlaces({ debug, sipClusters, vinos }: PagesOptions): readonly Place[] {
  const places: readonly (Place | undefined)[] = [
    debug && "nodes",
    debug?.loadBalancers && "loadBalancers",
    sipClusters && "sipClusters",
    vinos && "vinos",
  ];
  return places.filter((place) => place !== undefined);
}

/** As cloud controller managers show it, with flags in place of their groups of settings. */
function toConfigz(flags: Readonly<Record<string, string>>): object {
  const kind = "CloudControllerManagerConfiguration";
  return { "cloudcontrollermanager.config.k8s.io": { kind, flags } };
}
