/**
 * The routes of one kind: the list of its objects, and each of them, for browsers, programs and terminals.
 * @module
 */
import { type Context, Hono } from "hono";
import { type PageFrame, type Place, showPage } from "./page/layout.tsx";
import { showEither, showMissing } from "./replies.ts";

/** A kind, and how its objects are shown. */
export interface KindRoutes<V> {
  /** The path of the list. That of one object is below it, with its namespace and name. */
  readonly path: string;
  /** Completes the sentence "there is no …": `Vino`. */
  readonly noun: string;
  /** By `namespace/name`. */
  find(key: string): V | undefined;
  renderList(context: Context, frame: PageFrame): Promise<string>;
  renderOne(view: V, context: Context, frame: PageFrame): Promise<string>;
  /** The page of an object that is not there. */
  renderMissing(key: string, frame: PageFrame): Promise<string>;
  showList(context: Context, nowMs: number): Promise<Response>;
  showOne(view: V, context: Context, nowMs: number): Promise<Response>;
}

/** What the pages of all kinds share. */
export interface PagesContext {
  /** Wall-clock milliseconds. */
  now(): number;
  /** The pages that there are. */
  readonly places: readonly Place[];
}

/** Routes of a list and of each object in it. Like those of Nodes, they check no access. */
export function createKindRoutes<V>(kind: KindRoutes<V>, { now, places }: PagesContext): Hono {
  const routes = new Hono();
  routes.get(kind.path, (context) => {
    const nowMs = now();
    const frame = { nowMs, base: "", places };
    return showEither(context, {
      toPage: async () => showPage(context, await kind.renderList(context, frame)),
      toData: () => kind.showList(context, nowMs),
    });
  });
  routes.get(`${kind.path}/:namespace/:name`, (context) => {
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const view = kind.find(key);
    const nowMs = now();
    const frame = { nowMs, base: "../../", places };
    if (view === undefined) {
      return showEither(context, {
        toPage: async () => showPage(context, await kind.renderMissing(key, frame), 404),
        toData: () => showMissing(context, `there is no ${kind.noun} ${JSON.stringify(key)}`),
      });
    }
    return showEither(context, {
      toPage: async () => showPage(context, await kind.renderOne(view, context, frame)),
      toData: () => kind.showOne(view, context, nowMs),
    });
  });
  return routes;
}
