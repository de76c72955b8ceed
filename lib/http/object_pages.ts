/**
 * `/debug/<kind>`: what controllers know about the objects that they work on, for kinds other than Nodes.
 * @module
 */
import { Hono } from "hono";
import { inPieces, showJson } from "./replies.ts";

/** Objects of one kind, in memory. */
export interface ObjectPages {
  /** Plural name of the kind: `configmaps`. */
  readonly plural: string;
  /** `name`, or `namespace/name`. */
  keys(): Iterable<string>;
  /** Details of one object. */
  find(key: string): object | undefined;
}

/** Routes `/debug/<plural>` and `/debug/<plural>/<key>`, which give JSON. Like those of Nodes, they check no access. */
export function createObjectRoutes({ plural, keys, find }: ObjectPages): Hono {
  const routes = new Hono();
  routes.get(`/debug/${plural}`, async (context) => {
    const views: object[] = [];
    for await (const piece of inPieces([...keys()].toSorted())) {
      views.push(...piece.flatMap((key) => find(key) ?? []));
    }
    return showJson(context, { [plural]: views });
  });
  routes.get(`/debug/${plural}/:key{.+}`, (context) => {
    const key = context.req.param("key");
    const view = find(key);
    if (view !== undefined) return showJson(context, view);
    return context.json({ error: `there is no ${JSON.stringify(key)} among ${plural}` }, 404);
  });
  return routes;
}
