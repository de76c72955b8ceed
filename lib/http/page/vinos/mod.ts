/**
 * `/debug/vinos`: which machines Vinos have in the cloud.
 * @module
 */
import type { Context, Hono } from "hono";
import { createKindRoutes, type KindRoutes, type PagesContext } from "../../kind_routes.ts";
import { inPieces } from "../../replies.ts";
import { showVino, showVinos } from "../../vinos/replies.ts";
import type { VinoSource, VinoView } from "../../vinos/views.ts";
import type { PageFrame } from "../layout.tsx";
import { renderNoVinoPage, renderVinoPage } from "./detail_page.tsx";
import { renderVinoList } from "./list_page.tsx";

/** The path of the list. */
export const VINOS_PATH = "/debug/vinos";

/** Longer than the name of any machine. */
const NAME_LENGTH_MAX = 100;

/** Routes of the list with all hosts of the cloud, and of each Vino. */
export function createVinoRoutes(vinos: VinoSource, pages: PagesContext): Hono {
  const kind: KindRoutes<VinoView> = {
    path: VINOS_PATH,
    noun: "Vino",
    find: (key) => vinos.find(key),
    renderList: (context, frame) => renderList(vinos, context, frame),
    renderOne: async (vino, context, frame) => {
      const cloud = await vinos.readCloud(context.req.raw.signal);
      const machine = (context.req.query("machine") ?? "").slice(0, NAME_LENGTH_MAX);
      const page = { vino, ...frame, ...(cloud && { cloud }) };
      return await renderVinoPage({ ...page, ...(machine !== "" && { machine }) });
    },
    renderMissing: renderNoVinoPage,
    showList: (context, nowMs) => showVinos(context, vinos, nowMs),
    showOne: (vino, context, nowMs) => showVino(context, vinos, vino, nowMs),
  };
  return createKindRoutes(kind, pages);
}

async function renderList(vinos: VinoSource, context: Context, frame: PageFrame): Promise<string> {
  const all: VinoView[] = [];
  for await (const piece of inPieces(vinos.list())) all.push(...piece);
  const cloud = await vinos.readCloud(context.req.raw.signal);
  return await renderVinoList({
    vinos: all,
    serving: vinos.readServing(),
    pools: vinos.listPools(),
    ...frame,
    ...(cloud && { cloud }),
  });
}
