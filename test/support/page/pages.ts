/**
 * The pages of a process as requests see them, at a fixed time.
 * @module
 */
import type { Hono } from "hono";
import { createPages } from "../../../lib/http/pages.ts";
import { PAGE_NOW } from "./node_views.ts";

/** Version that the pages show. */
export const PAGE_VERSION = "1.2.3";

type Options = Omit<Parameters<typeof createPages>[0], "now" | "version">;

/** Pages of these sources. */
export function toPages(options: Options): Hono {
  return createPages({ now: () => PAGE_NOW, version: PAGE_VERSION, ...options });
}

/** Reads a page as a browser does. @param path Below `/debug/` */
export async function readPage(pages: Hono, path: string): Promise<string> {
  const response = await pages.request(`/debug/${path}`, { headers: { accept: "text/html" } });
  return await response.text();
}

/** Reads the same as a program does. */
export async function readData(pages: Hono, path: string): Promise<string> {
  return await (await pages.request(`/debug/${path}`)).text();
}

/** The heading of a page. */
export function findHeading(html: string): string {
  return /<h1[^>]*>([^<]*)/.exec(html)?.[1] ?? "";
}

/** Names of the rows of the list of objects, in order. */
export function listRows(html: string): readonly string[] {
  const [, table = ""] = /aria-labelledby="objects"([^]*?)<\/section>/.exec(html) ?? [];
  return [...table.matchAll(/<th scope="row"><a[^>]*>([^<]*)/g)].map(([, name = ""]) => name);
}
