import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { Hono } from "hono";
import { raw } from "hono/html";
import { renderDocument, showPage } from "../../../lib/http/page/layout.tsx";
import { NODES_PLACE } from "../../../lib/http/debug.ts";
import { PAGE_NOW, takeApart } from "../../support/page/node_views.ts";

const options = {
  title: "</title><script>alert(1)</script>",
  base: "",
  places: [NODES_PLACE],
  nowMs: PAGE_NOW,
  version: "1.2.3",
  isTroubled: false,
  refreshSeconds: 5,
  main: raw("<main></main>"),
};

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("showPage() allows the style and the script of the page by their hashes, and no others", async () => {
  const html = await renderDocument(options);
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
  const [, script = ""] = /<script>([^]*?)<\/script>/.exec(html) ?? [];
  const routes = new Hono().get("/", (context) => showPage(context, html));
  const { headers } = await routes.request("/");
  const policy = headers.get("content-security-policy")?.split("; ");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`style-src ${hash(style)}`);
  expect(policy).toContain(`script-src ${hash(script)}`);
  expect(policy?.join()).not.toContain("unsafe");
});

test("renderDocument() has one script and one style, and escapes its title", async () => {
  const { elements, attributes } = takeApart(await renderDocument(options));
  expect(elements.filter((name) => name === "script")).toHaveLength(1);
  expect(elements.filter((name) => name === "style")).toHaveLength(1);
  expect(attributes.filter((one) => /^(on\w+|style|src)=/.test(one))).toEqual([]);
});

test("renderDocument() renews itself without a script too, but never often", async () => {
  expect(await renderDocument(options)).toContain('http-equiv="refresh" content="30"');
  const slow = await renderDocument({ ...options, refreshSeconds: 60 });
  expect(slow).toContain('http-equiv="refresh" content="60"');
  expect(slow).toContain('data-refresh="60"');
});

test("renderDocument() has neither a script nor a word about being live if it never renews itself", async () => {
  const { refreshSeconds: _none, ...still } = options;
  const { elements, attributes } = takeApart(await renderDocument(still));
  expect(elements).not.toContain("script");
  expect(elements).not.toContain("button");
  expect(attributes.join()).not.toContain('refresh="');
});

test("renderDocument() shows trouble in the mark of the window", async () => {
  const calm = await renderDocument(options);
  const troubled = await renderDocument({ ...options, isTroubled: true });
  const toIcon = (html: string): string => /rel="icon" href="([^"]+)"/.exec(html)?.[1] ?? "";
  expect(toIcon(calm)).toStartWith("data:image/svg+xml,");
  expect(toIcon(troubled)).not.toBe(toIcon(calm));
});
