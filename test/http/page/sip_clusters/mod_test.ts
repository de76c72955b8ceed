import { expect, test } from "bun:test";
import { silentLogger } from "../../../../lib/core/log.ts";
import { createPages } from "../../../../lib/http/pages.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import { toSipSource } from "../../../support/page/sip_cluster_views.ts";

const HTML = { headers: { accept: "text/html" } };
const PAGES = createPages({
  probes: { checks: [], renderMetrics: () => "" },
  log: silentLogger,
  sipClusters: { sipClusters: toSipSource(), now: () => PAGE_NOW },
});

test.each([
  ["/debug/sipclusters", "<h1>1 of 2 SIPClusters needs attention, and 1 host is in trouble</h1>"],
  ["/debug/sipclusters?by=vino.airshipit.org%2Fhost", "<b>h-3</b>"],
  ["/debug/sipclusters/tenants/short", '<h1 class="name">tenants/short</h1>'],
])("%s is a page for browsers, without a cloud", async (path, expected) => {
  const response = await PAGES.request(path, HTML);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await response.text()).toContain(expected);
});

test("/debug/sipclusters of an unknown cluster is a page with 404", async () => {
  const response = await PAGES.request("/debug/sipclusters/tenants/none", HTML);
  expect([response.status, await response.text()]).toEqual([
    404,
    expect.stringContaining("“tenants/none”"),
  ]);
});

test("/debug/sipclusters is data for programs, and says that there are two forms", async () => {
  const response = await PAGES.request("/debug/sipclusters");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("vary")).toBe("Accept");
  expect(await (await PAGES.request("/debug/sipclusters?format=json", HTML)).json()).toBeObject();
});

test("the pages lead to no page that is not there", async () => {
  const html = await (await PAGES.request("/debug/sipclusters", HTML)).text();
  expect(html).toContain('class="brand" href="sipclusters"');
  expect(html).not.toContain('href="nodes');
  expect(html).toContain('href="sipclusters/tenants/short"');
  expect(await (await PAGES.request("/")).text()).toContain("/debug/sipclusters\n");
});
