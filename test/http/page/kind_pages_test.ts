/**
 * The pages of SIPClusters and of Vinos, as requests see them, in a process without a cloud.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toPages } from "../../support/page/pages.ts";
import { toSipSource } from "../../support/page/sip_cluster_views.ts";
import { toVinoSource } from "../../support/page/vino_views.ts";

const HTML = { headers: { accept: "text/html" } };
const PAGES = toPages({
  sipClusters: toSipSource(),
  vinos: toVinoSource(),
});

test.each([
  ["/debug/sipclusters", "<h1>1 of 2 SIPClusters needs attention, and 1 host is in trouble</h1>"],
  ["/debug/sipclusters?by=vino.airshipit.org%2Fhost", "<b>h-3</b>"],
  ["/debug/sipclusters/tenants/short", '<h1 class="name">tenants/short</h1>'],
  ["/debug/vinos", "<h1>1 of 2 Vinos needs attention</h1>"],
  ["/debug/vinos/tenants/well", '<h1 class="name">tenants/well</h1>'],
  ["/debug/vinos/tenants/well?machine=vino-well-worker-1", "One of its machines"],
])("%s is a page for browsers", async (path, expected) => {
  const response = await PAGES.request(path, HTML);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await response.text()).toContain(expected);
});

describe.each(["sipclusters", "vinos"])("/debug/%s", (kind) => {
  const path = `/debug/${kind}`;

  test("of an unknown object is a page with 404", async () => {
    const response = await PAGES.request(`${path}/tenants/none`, HTML);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("“tenants/none”");
  });

  test("is data for programs, says that there are two forms, and is on the list", async () => {
    const response = await PAGES.request(path);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("vary")).toBe("Accept");
    expect(await (await PAGES.request(`${path}?format=json`, HTML)).json()).toBeObject();
    expect(await (await PAGES.request("/")).text()).toContain(`\n/debug/\n/debug/sip`);
    expect(await (await PAGES.request("/")).text()).toContain(`${path}\n`);
    const forms = [path, `${path}?format=text`, `${path}/<namespace>/<name>`];
    expect(await (await PAGES.request("/debug/")).text()).toContain(`${forms.join("\n")}\n`);
  });
});

test("the pages lead to no page that is not there", async () => {
  const html = await (await PAGES.request("/debug/sipclusters", HTML)).text();
  expect(html).toContain('class="brand" href="sipclusters"');
  expect(html).toContain('href="sipclusters/tenants/short"');
  expect(html).not.toContain('href="nodes');
});
