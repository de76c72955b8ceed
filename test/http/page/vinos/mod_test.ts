import { expect, test } from "bun:test";
import { silentLogger } from "../../../../lib/core/log.ts";
import { createPages } from "../../../../lib/http/pages.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import { toVinoSource } from "../../../support/page/vino_views.ts";

const HTML = { headers: { accept: "text/html" } };
const PAGES = createPages({
  probes: { checks: [], renderMetrics: () => "" },
  log: silentLogger,
  vinos: { vinos: toVinoSource(), now: () => PAGE_NOW },
});

test.each([
  ["/debug/vinos", "<h1>1 of 2 Vinos needs attention</h1>"],
  ["/debug/vinos/tenants/well", '<h1 class="name">tenants/well</h1>'],
  ["/debug/vinos/tenants/well?machine=vino-well-worker-1", "One of its machines"],
])("%s is a page for browsers", async (path, expected) => {
  const response = await PAGES.request(path, HTML);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await response.text()).toContain(expected);
});

test("/debug/vinos of an unknown Vino is a page with 404", async () => {
  const response = await PAGES.request("/debug/vinos/tenants/none", HTML);
  expect([response.status, await response.text()]).toEqual([
    404,
    expect.stringContaining("“tenants/none”"),
  ]);
});

test("/debug/vinos is data for programs, and says that there are two forms", async () => {
  const response = await PAGES.request("/debug/vinos");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("vary")).toBe("Accept");
  expect(await (await PAGES.request("/debug/vinos?format=json", HTML)).json()).toBeObject();
});

test("the list of pages names /debug/vinos", async () => {
  expect(await (await PAGES.request("/")).text()).toContain("/debug/vinos\n");
});
