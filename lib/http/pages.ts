/**
 * All pages but the probes, put together.
 * @module
 */
import { Hono } from "hono";
import { createDebugRoutes, type DebugOptions } from "./debug.ts";
import { createObjectRoutes, type ObjectPages } from "./object_pages.ts";
import type { PagesContext } from "./kind_routes.ts";
import type { LoadBalancerSource } from "./load_balancers/views.ts";
import type { Place } from "./page/layout.tsx";
import { createLoadBalancerRoutes, LOAD_BALANCERS_PATH } from "./page/load_balancers/mod.ts";
import { createSipClusterRoutes, SIP_CLUSTERS_PATH } from "./page/sip_clusters/mod.ts";
import { createVinoRoutes, VINOS_PATH } from "./page/vinos/mod.ts";
import { createProcessRoutes, PROCESS_PATH } from "./process_page.ts";
import type { SipClusterSource } from "./sip_clusters/views.ts";
import type { VinoSource } from "./vinos/views.ts";
import type { ProcessView } from "./views.ts";

/** The pages of a listener. */
interface PagesOptions extends Pick<PagesContext, "now"> {
  /** Absent: there are no pages about Nodes. */
  readonly debug?: DebugOptions | undefined;
  /** What the process runs and waits for; absent: there is no such page. */
  readonly readProcess?: (() => ProcessView) | undefined;
  /** Absent: there are no pages about load balancers. */
  readonly loadBalancers?: LoadBalancerSource | undefined;
  /** Absent: there are no pages about SIPClusters. */
  readonly sipClusters?: SipClusterSource | undefined;
  /** Absent: there are no pages about Vinos. */
  readonly vinos?: VinoSource | undefined;
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
  const { now, debug, loadBalancers, sipClusters, vinos, readProcess, objects = [] } = options;
  const { configz } = options;
  const pages = new Hono();
  const shared = { now, places: listPlaces(options) };
  if (sipClusters) pages.route("/", createSipClusterRoutes(sipClusters, shared));
  if (vinos) pages.route("/", createVinoRoutes(vinos, shared));
  if (debug) pages.route("/", createDebugRoutes(debug, shared));
  if (loadBalancers) {
    pages.route("/", createLoadBalancerRoutes(loadBalancers, shared, debug?.readStatus));
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
      pages.get(path, (context) => context.text(toLines(forms.flat()), 200, { vary: "Accept" }));
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
  const { debug, loadBalancers, readProcess, sipClusters, vinos, objects = [] } = options;
  const all: readonly (Forms | undefined)[] = [
    debug && toForms("/debug/nodes", "<name>"),
    debug && toForms("/debug/inventory"),
    readProcess && toForms(PROCESS_PATH),
    loadBalancers && toForms(LOAD_BALANCERS_PATH, KEY),
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

function listPlaces({ debug, loadBalancers, sipClusters, vinos }: PagesOptions): readonly Place[] {
  const places: readonly (Place | undefined)[] = [
    debug && "nodes",
    loadBalancers && "loadBalancers",
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
