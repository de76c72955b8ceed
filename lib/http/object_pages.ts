/**
 * `/debug/<kind>`: what controllers know about the objects that they work on, for kinds other than Nodes.
 * @module
 */
import { Hono } from "hono";
import { escapeInvisible } from "../core/text/printable.ts";
import { inPieces } from "./replies.ts";

/** Objects of one kind, in memory. */
export interface ObjectPages {
  /** Plural name of the kind: `configmaps`. */
  readonly plural: string;
  /** `name`, or `namespace/name`. */
  keys(): Iterable<string>;
  /** Details of one object. */
  find(key: string): object | undefined;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Routes `/debug/<plural>` and `/debug/<plural>/<key>`, which give JSON. Like those of Nodes, they check no access. */
export function createObjectRoutes({ plural, keys, find }: ObjectPages): Hono {
  const routes = new Hono();
  routes.get(`/debug/${plural}`, async (context) => {
    const views: object[] = [];
    for await (const piece of inPieces([...keys()].toSorted())) {
      views.push(...piece.flatMap((key) => find(key) ?? []));
    }
    return context.body(formatJson({ [plural]: views }), 200, JSON_TYPE);
  });
  routes.get(`/debug/${plural}/:key{.+}`, (context) => {
    const key = context.req.param("key");
    const view = find(key);
    if (view !== undefined) return context.body(formatJson(view), 200, JSON_TYPE);
    return context.json({ error: `there is no ${JSON.stringify(key)} among ${plural}` }, 404);
  });
  return routes;
}

/** Indented, because people read it with curl more often than programs do. */
function formatJson(view: object): string {
  return `${escapeInvisible(JSON.stringify(view, undefined, 2))}\n`;
}
