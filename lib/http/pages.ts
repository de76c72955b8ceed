/**
 * All pages but the probes, put together.
 * @module
 */
import { Hono } from "hono";
import { createDebugRoutes, type DebugOptions, NODES_PLACE } from "./debug.ts";
import { createObjectRoutes, type ObjectPages } from "./object_pages.ts";
import { type KindPages, type ObjectView, toPlace } from "./kind.ts";
import { createKindRoutes, type PagesContext } from "./kind_routes.ts";
import { toLoadBalancerPages } from "./load_balancers/pages.ts";
import type { LoadBalancerSource } from "./load_balancers/views.ts";
import { renderNotFound, showPage } from "./page/layout.tsx";
import { createProcessRoutes, PROCESS_PATH } from "./process_page.ts";
import { wantsHtml } from "./replies.ts";
import { toSipClusterPages } from "./sip_clusters/pages.ts";
import type { SipClusterSource } from "./sip_clusters/views.ts";
import { toVinoPages } from "./vinos/pages.ts";
import type { VinoSource } from "./vinos/views.ts";
import type { ProcessView } from "./views.ts";

/** The pages of a listener. */
interface PagesOptions extends Pick<PagesContext, "now" | "version"> {
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
 * The pages, with a list of them and of the probes at `/`, and of what debug pages can be asked for at `/debug/`. A
 * browser gets the first page in place of a list. They throw what a page throws.
 */
export function createPages(options: PagesOptions): Hono {
  const { now, version, debug, loadBalancers, sipClusters, vinos, readProcess } = options;
  const { configz, objects = [] } = options;
  const pages = new Hono();
  const kinds = [
    ...(loadBalancers ? [toRouted(toLoadBalancerPages(loadBalancers))] : []),
    ...(sipClusters ? [toRouted(toSipClusterPages(sipClusters))] : []),
    ...(vinos ? [toRouted(toVinoPages(vinos))] : []),
  ];
  const places = [...(debug ? [NODES_PLACE] : []), ...kinds.map(({ place }) => place)];
  const shared = { now, version, places };
  if (debug) pages.route("/", createDebugRoutes(debug, shared));
  for (const { route } of kinds) pages.route("/", route(shared));
  if (readProcess) pages.route("/", createProcessRoutes(readProcess, shared));
  for (const kind of objects) pages.route("/", createObjectRoutes(kind));
  if (configz !== undefined) {
    pages.get("/configz", (context) => context.json(toConfigz(configz)));
  }
  const forms = listDebugForms(
    options,
    kinds.map(({ place }) => `/debug/${place.path}`),
  );
  const debugPaths = forms.length > 0 ? ["/debug/", ...forms.map(([path]) => path)] : [];
  const others = configz === undefined ? [] : ["/configz"];
  const paths = ["/healthz", "/livez", "/readyz", "/metrics", ...debugPaths, ...others];
  pages.get("/", (context) => {
    if (forms.length === 0 || !wantsHtml(context.req.header("accept"))) {
      return context.text(toLines(paths), 200, { vary: "Accept" });
    }
    context.header("vary", "Accept");
    return context.redirect("debug/");
  });
  if (forms.length > 0) {
    const home = places[0]?.path ?? "process";
    for (const path of ["/debug", "/debug/"]) {
      pages.get(path, (context) => {
        const vary = { vary: "Accept" };
        if (!wantsHtml(context.req.header("accept"))) {
          return context.text(toLines(forms.flat()), 200, vary);
        }
        // Without Nodes, the first list is what a browser gets.
        context.header("vary", "Accept");
        return context.redirect(path === "/debug" ? `debug/${home}` : home);
      });
    }
  }
  pages.notFound(async (context) => {
    if (!wantsHtml(context.req.header("accept"))) {
      return context.text("404 page not found\n", 404);
    }
    const { pathname } = new URL(context.req.url);
    const base = pathname.startsWith("/debug/")
      ? toBase(pathname)
      : `${toBase(`/debug${pathname}`)}debug/`;
    return await showPage(
      context,
      await renderNotFound({ version, places, nowMs: now(), base }),
      404,
    );
  });
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

/** Path from a page below `/debug/` to `/debug/`. */
function toBase(path: string): string {
  return "../".repeat(Math.max(0, path.split("/").length - 3));
}

/** Hides what kind of objects it is: the pages of all kinds are served alike. */
function toRouted<V extends ObjectView>(kind: KindPages<V>) {
  return {
    place: toPlace(kind),
    route: (shared: PagesContext): Hono => createKindRoutes(kind, shared),
  };
}

/** What programs, and operators with curl, can ask of each debug page. The path of the page comes first. */
function listDebugForms(options: PagesOptions, kindPaths: readonly string[]): readonly Forms[] {
  const { debug, readProcess, objects = [] } = options;
  return [
    ...(debug ? [toForms("/debug/nodes", "<name>"), toForms("/debug/inventory")] : []),
    ...(readProcess ? [toForms(PROCESS_PATH)] : []),
    ...kindPaths.map((path) => toForms(path, KEY)),
    ...objects.map(({ plural }): Forms => [`/debug/${plural}`, `/debug/${plural}/<key>`]),
  ];
}

function toForms(path: string, below?: string): Forms {
  return [path, `${path}?format=text`, ...(below === undefined ? [] : [`${path}/${below}`])];
}

function toLines(paths: readonly string[]): string {
  return paths.map((path) => `${path}\n`).join("");
}

/** As cloud controller managers show it, with flags in place of their groups of settings. */
function toConfigz(flags: Readonly<Record<string, string>>): object {
  const kind = "CloudControllerManagerConfiguration";
  return { "cloudcontrollermanager.config.k8s.io": { kind, flags } };
}
