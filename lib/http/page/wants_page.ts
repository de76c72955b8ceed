/**
 * Whether a request asks for a page, or for data at the same path.
 * @module
 */
import type { Context } from "hono";
import { wantsHtml } from "../accept.ts";

/** Whether to answer with HTML: the client prefers it, and the query names no other form. */
export function wantsPage(context: Context): boolean {
  return wantsHtml(context.req.header("accept")) && context.req.query("format") === undefined;
}

/** Leaves the request to the routes for programs. Caches must tell the two answers apart. */
export async function passOn(context: Context, next: () => Promise<void>): Promise<void> {
  await next();
  context.header("vary", "Accept");
}
