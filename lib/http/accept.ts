/**
 * Whether a request comes from a browser that asks for a page, or from a program that asks for data.
 * @module
 */
import type { Context } from "hono";

/**
 * Whether an `Accept` header asks for HTML by name, at least as much as for JSON or plain text.
 *
 * Wildcards do not count: a client that accepts everything (curl) gets data.
 */
export function wantsHtml(accept: string | undefined): boolean {
  const html = findQuality(accept, "text/html");
  if (html === 0) return false;
  return (
    html >= findQuality(accept, "application/json") && html >= findQuality(accept, "text/plain")
  );
}

function findQuality(accept: string | undefined, type: string): number {
  for (const part of (accept ?? "").split(",")) {
    const [name = "", ...params] = part.split(";").map((one) => one.trim().toLowerCase());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith("q="));
    return quality === undefined ? 1 : Number(quality.slice("q=".length)) || 0;
  }
  return 0;
}

/** Whether to answer with HTML: the client prefers it, and the query names no other form. */
export function wantsPage(context: Context): boolean {
  return wantsHtml(context.req.header("accept")) && context.req.query("format") === undefined;
}

/** Leaves the request to the routes for programs. Caches must tell the two answers apart. */
export async function passOn(context: Context, next: () => Promise<void>): Promise<void> {
  await next();
  context.header("vary", "Accept");
}
