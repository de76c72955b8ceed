/**
 * The list of all pages of a process.
 * @module
 */
import { expect, test } from "bun:test";
import { createPages } from "../../lib/http/pages.ts";
import { toInventoryView, toNodeView } from "../support/page/node_views.ts";
import { PAGE_VERSION, readData, readPage, toPages } from "../support/page/pages.ts";
import { toSipSource } from "../support/page/sip_cluster_views.ts";

const now = (): number => 0;

test("createPages() has no page that it was not asked for", async () => {
  const pages = createPages({ now, version: "1.2.3" });
  for (const path of ["/debug/nodes", "/debug/", "/configz"]) {
    expect((await pages.request(path)).status).toBe(404);
  }
  expect(await (await pages.request("/")).text()).toBe("/healthz\n/livez\n/readyz\n/metrics\n");
});

test("createPages() lists every page it has", async () => {
  const pages = createPages({
    now,
    version: "1.2.3",
    debug: {
      listNodes: () => [toNodeView("a")],
      findNode: () => undefined,
      readInventory: () => toInventoryView(),
    },
    readProcess: () => ({ host: "h", elections: [], controllers: [], kinds: [] }),
    objects: [{ plural: "widgets", keys: () => [], find: () => undefined }],
    configz: { v: "2" },
  });
  const forms = await (await pages.request("/debug/")).text();
  expect(forms.split("\n")).toEqual([
    "/debug/nodes",
    "/debug/nodes?format=text",
    "/debug/nodes/<name>",
    "/debug/inventory",
    "/debug/inventory?format=text",
    "/debug/process",
    "/debug/process?format=text",
    "/debug/widgets",
    "/debug/widgets/<key>",
    "",
  ]);
  const [, , , , ...paths] = (await (await pages.request("/")).text()).trimEnd().split("\n");
  expect(paths).toEqual([
    "/debug/",
    "/debug/nodes",
    "/debug/inventory",
    "/debug/process",
    "/debug/widgets",
    "/configz",
  ]);
  for (const path of paths) expect((await pages.request(path)).status).toBe(200);
});

const HTML = { headers: { accept: "text/html" } };

test.each(["/debug", "/debug/"])(
  "without a cloud, %s leads a browser to what there is",
  async (path) => {
    const withSips = toPages({ sipClusters: toSipSource() });
    const response = await withSips.request(path, HTML);
    expect(response.status).toBe(302);
    expect(response.headers.get("vary")).toBe("Accept");
    const target = new URL(response.headers.get("location") ?? "", `http://x/proxy${path}`);
    expect(target.pathname).toBe("/proxy/debug/sipclusters");
    const only = toPages({
      readProcess: () => ({ host: "h", elections: [], controllers: [], kinds: [] }),
    });
    const process = (await only.request(path, HTML)).headers.get("location") ?? "";
    expect(new URL(process, `http://x${path}`).pathname).toBe("/debug/process");
  },
);

test("a browser that asks for / gets the first page, and a program the list of all", async () => {
  const pages = toPages({ sipClusters: toSipSource() });
  const response = await pages.request("/", HTML);
  expect([response.status, response.headers.get("vary")]).toEqual([302, "Accept"]);
  const target = new URL(response.headers.get("location") ?? "", "http://x/proxy/");
  expect(target.pathname).toBe("/proxy/debug/");
  const list = await pages.request("/");
  expect([list.status, list.headers.get("vary")]).toEqual([200, "Accept"]);
  expect(await list.text()).toContain("/debug/sipclusters\n");
  expect(await (await toPages({}).request("/", HTML)).text()).toStartWith("/healthz\n");
});

test.each(["/nope", "/debug/nope", "/debug/a/b/c", "/a/b"])(
  "%s is no page, and leads back to those that are",
  async (path) => {
    const pages = toPages({ sipClusters: toSipSource() });
    const response = await pages.request(path, HTML);
    expect(response.status).toBe(404);
    const html = await response.text();
    expect(html).toContain("<h1>There is no such page</h1>");
    // Nothing there changes, so nothing keeps it up to date.
    expect(html).not.toMatch(/id="live"|<script|http-equiv="refresh"/);
    const [, link = ""] = /class="links"><li><a href="([^"]*)"/.exec(html) ?? [];
    expect(new URL(link, `http://x/proxy${path}`).pathname).toBe("/proxy/debug/sipclusters");
    expect(await (await pages.request(path)).text()).toBe("404 page not found\n");
  },
);

test("every page says the version, and where its guides are", async () => {
  const html = await readPage(toPages({ sipClusters: toSipSource() }), "sipclusters");
  expect(html).toContain(`Landfall ${PAGE_VERSION}.`);
  expect(html).toContain("<code>docs/guides</code>");
});

test.each(["nodes", "inventory"])("/debug/%s is a page for browsers, too", async (path) => {
  const pages = toPages({
    debug: {
      listNodes: () => [toNodeView("a")],
      findNode: () => undefined,
      readInventory: () => toInventoryView(),
    },
  });
  const html = await readPage(pages, path);
  expect(html).toContain("<table");
  expect(html).toContain('<th scope="row">');
  expect(html).not.toMatch(/<td[^>]*><\/td>/);
  expect(JSON.parse(await readData(pages, path))).toBeObject();
});
