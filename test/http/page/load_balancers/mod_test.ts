import { expect, test } from "bun:test";
import type { LoadBalancerView } from "../../../../lib/http/load_balancers/views.ts";
import { createPages } from "../../../../lib/http/pages.ts";
import {
  toLoadBalancerSource,
  toLoadBalancerView,
  WAITING,
} from "../../../support/page/load_balancer_views.ts";
import { PAGE_NOW, toInventoryView, toNodeView } from "../../../support/page/node_views.ts";

const HTML = { headers: { accept: "text/html" } };
const EVIL = `</style></script><script>alert(1)</script><img src=x onerror=alert(2)>"'`;

const STANDBY = { lease: "l", identity: "b", holder: "a", isLeading: false };

function toPages(views: readonly LoadBalancerView[] | undefined) {
  const node = toNodeView("a");
  const loadBalancers = views && toLoadBalancerSource(views);
  const debug = {
    listNodes: () => [node],
    findNode: () => node,
    readInventory: () => toInventoryView(),
    readStatus: () => ({ provider: "test", host: "h", election: STANDBY }),
  };
  return createPages({ now: () => PAGE_NOW, debug, loadBalancers });
}

const pages = toPages([toLoadBalancerView("api"), WAITING]);

test("the pages are there for browsers, and their data for everybody else", async () => {
  for (const path of ["/debug/load-balancers", "/debug/load-balancers/store/shop"]) {
    const page = await pages.request(path, HTML);
    expect(page.headers.get("content-type"), path).toStartWith("text/html");
    expect(page.headers.get("content-security-policy"), path).toContain("default-src 'none'");
    for (const [more, init] of [
      ["", {}],
      ["?format=json", HTML],
    ] as const) {
      const data = await pages.request(path + more, init);
      expect(data.headers.get("content-type"), path).toBe("application/json");
      expect(data.headers.get("vary"), path).toBe("Accept");
    }
  }
});

test("each page links to the others, also behind a proxy with a path of its own", async () => {
  const links = async (path: string): Promise<readonly string[]> => {
    const text = await (await pages.request(path, HTML)).text();
    const found = [...text.matchAll(/href="([^"#:]*)"/g)].map(([, link = ""]) => link);
    return found.map((link) => new URL(link, `http://x/proxy${path}`).pathname);
  };
  const list = await links("/debug/load-balancers");
  expect(list).toContain("/proxy/debug/load-balancers/store/shop");
  expect(list).toContain("/proxy/debug/");
  const one = await links("/debug/load-balancers/store/shop");
  expect(one).toContain("/proxy/debug/load-balancers");
  expect(one).toContain("/proxy/debug/");
  expect(one).toContain("/proxy/debug/load-balancers/store/shop");
  for (const path of ["/debug/", "/debug/nodes/a"]) {
    expect(await links(path)).toContain("/proxy/debug/load-balancers");
  }
});

test("the list of a standby says so", async () => {
  const page = await pages.request("/debug/load-balancers", HTML);
  expect(await page.text()).toContain("This process is a standby.");
});

test("a Service without a load balancer gets a page that says so", async () => {
  const page = await pages.request("/debug/load-balancers/store/none", HTML);
  expect(page.status).toBe(404);
  expect(await page.text()).toContain("“store/none” has no load balancer of Landfall");
});

test("the list takes a state and a text from the query, and ignores what is no state", async () => {
  const read = async (query: string): Promise<string> =>
    (await pages.request(`/debug/load-balancers?${query}`, HTML)).text();
  expect(await read("state=waiting")).not.toContain(">default/api<");
  expect(await read("q=192.0.2.10")).not.toContain(">store/shop<");
  const all = await read("state=constructor");
  expect(all).toContain(">default/api<");
  expect(all).toContain(">store/shop<");
});

test("there are no such pages and no links to them if nothing makes load balancers", async () => {
  const without = toPages(undefined);
  expect((await without.request("/debug/load-balancers", HTML)).status).toBe(404);
  for (const path of ["/", "/debug/"]) {
    expect(await (await without.request(path)).text()).not.toContain("load-balancers");
    expect(await (await without.request(path, HTML)).text()).not.toContain("load-balancers");
    expect(await (await pages.request(path)).text()).toContain("/debug/load-balancers\n");
  }
});

test("links encode what may stand in no path", async () => {
  const odd = toPages([toLoadBalancerView("ü?", { namespace: "a/b" })]);
  const text = await (await odd.request("/debug/load-balancers", HTML)).text();
  expect(text).toContain('href="load-balancers/a%2Fb/%C3%BC%3F"');
});

test("nothing that anybody wrote becomes markup", async () => {
  const evil = toPages([
    {
      ...WAITING,
      namespace: EVIL,
      name: EVIL,
      addresses: [EVIL],
      ports: [EVIL],
      backends: [EVIL],
      parts: [{ kind: EVIL, name: EVIL, wanted: EVIL, actual: EVIL }],
      problems: [{ reason: EVIL, message: EVIL }],
      steps: [EVIL],
      waitsFor: EVIL,
      failure: EVIL,
    },
  ]);
  const key = `${encodeURIComponent(EVIL)}/${encodeURIComponent(EVIL)}`;
  for (const path of ["/debug/load-balancers", `/debug/load-balancers/${key}`]) {
    const page = await evil.request(path, HTML);
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain("&lt;img src=x");
    expect(text).not.toContain("<img");
    expect(text.match(/<script>/g)).toHaveLength(1);
  }
});
