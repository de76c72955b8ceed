/**
 * The list of all pages of a process.
 * @module
 */
import { expect, test } from "bun:test";
import { createPages } from "../../lib/http/pages.ts";
import { toInventoryView, toNodeView } from "../support/page/node_views.ts";

const now = (): number => 0;

test("createPages() has no page that it was not asked for", async () => {
  const pages = createPages({ now });
  for (const path of ["/debug/nodes", "/debug/", "/configz"]) {
    expect((await pages.request(path)).status).toBe(404);
  }
  expect(await (await pages.request("/")).text()).toBe("/healthz\n/livez\n/readyz\n/metrics\n");
});

test("createPages() lists every page it has", async () => {
  const pages = createPages({
    now,
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
