/**
 * The HTML pages of Vinos: the list with all hosts of the cloud, and a page for each, for requests that ask for HTML.
 * @module
 */
import { Hono } from "hono";
import { inPieces, passOn, wantsPage } from "../../replies.ts";
import { type VinoPagesOptions, VINOS_PATH } from "../../vinos/routes.ts";
import type { VinoView } from "../../vinos/views.ts";
import type { Place } from "../layout.tsx";
import { renderNoVinoPage, renderVinoPage } from "./detail_page.tsx";
import { renderVinoList } from "./list_page.tsx";

/** What the pages need. */
interface VinoPageRoutes extends VinoPagesOptions {
  /** Headers of each page. */
  readonly headers: Readonly<Record<string, string>>;
  /** The pages that there are. */
  readonly places: readonly Place[];
}

/** Longer than the name of any machine. */
const NAME_LENGTH_MAX = 100;

/** Routes for the HTML pages. They pass on requests that do not ask for HTML. */
export function createVinoPageRoutes(options: VinoPageRoutes): Hono {
  const { vinos, headers, places, now } = options;
  const routes = new Hono();
  routes.get(VINOS_PATH, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const all: VinoView[] = [];
    for await (const piece of inPieces(vinos.list())) all.push(...piece);
    const cloud = await vinos.readCloud(context.req.raw.signal);
    const page = await renderVinoList({
      vinos: all,
      serving: vinos.readServing(),
      pools: vinos.listPools(),
      nowMs: now(),
      base: "",
      places,
      ...(cloud && { cloud }),
    });
    return context.html(page, 200, headers);
  });
  routes.get(`${VINOS_PATH}/:namespace/:name`, async (context, next) => {
    if (!wantsPage(context)) return await passOn(context, next);
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const base = "../../";
    const vino = vinos.find(key);
    if (vino === undefined) {
      return context.html(await renderNoVinoPage(key, { base, places }), 404, headers);
    }
    const cloud = await vinos.readCloud(context.req.raw.signal);
    const machine = (context.req.query("machine") ?? "").slice(0, NAME_LENGTH_MAX);
    const shown = { vino, nowMs: now(), base, places, ...(cloud && { cloud }) };
    const page = await renderVinoPage({ ...shown, ...(machine !== "" && { machine }) });
    return context.html(page, 200, headers);
  });
  return routes;
}
