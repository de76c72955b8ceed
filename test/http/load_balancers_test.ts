/**
 * The pages of load balancers, as requests see them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Hono } from "hono";
import type { LoadBalancerView } from "../../lib/http/load_balancers/views.ts";
import {
  LEFTOVER,
  POOL,
  toLoadBalancerSource,
  toLoadBalancerView,
  WAITING,
} from "../support/page/load_balancer_views.ts";
import { toInventoryView, toNodeView } from "../support/page/node_views.ts";
import { findHeading, listRows, readData, readPage, toPages } from "../support/page/pages.ts";

const HTML = { headers: { accept: "text/html" } };
const EVIL = `</style></script><script>alert(1)</script><img src=x onerror=alert(2)>"'`;
const LIST = "load-balancers";

const READY = toLoadBalancerView("api");
const TURN = toLoadBalancerView("turn", {
  state: "working",
  addresses: [],
  waitsFor: "its turn in the network web",
});
const MOVING = toLoadBalancerView("moving", { state: "working" });
const LEAVING = toLoadBalancerView("old", { isLeaving: true, state: "working" });

function toSource(
  views: readonly LoadBalancerView[],
  more: { leftovers?: (typeof LEFTOVER)[]; pools?: (typeof POOL)[]; isLeading?: boolean } = {},
) {
  const { leftovers = [], pools = [], isLeading } = more;
  const election = { lease: "l", identity: "b", holder: "a", isLeading: isLeading === true };
  return {
    ...toLoadBalancerSource(views, leftovers, pools),
    readServing: () => ({ missing: [], ...(isLeading !== undefined && { election }) }),
  };
}

function show(...args: Parameters<typeof toSource>): Hono {
  return toPages({ loadBalancers: toSource(...args) });
}

describe("the list", () => {
  test.each<[string, readonly LoadBalancerView[], string]>([
    ["none", [], "No load balancers yet"],
    ["one that is well", [READY], "The only load balancer is well"],
    ["two that are well", [READY, READY], "All 2 load balancers are well"],
    ["one that waits for its turn", [TURN], "The only load balancer has no address"],
    ["one of two without an address", [READY, TURN], "1 of 2 load balancers has no address"],
    ["two without an address", [WAITING, TURN], "2 of 2 load balancers have no address"],
    ["one that changes", [READY, MOVING], "1 of 2 load balancers is not ready yet"],
    ["one that goes", [READY, LEAVING], "1 of 2 load balancers is being removed"],
    [
      "each",
      [READY, WAITING, { ...WAITING, addresses: ["192.0.2.1"] }, MOVING],
      "1 of 4 load balancers has no address, 1 needs attention, and 1 is not ready yet",
    ],
  ])("of %s says it in the heading", async (_title, views, expected) => {
    expect(findHeading(await readPage(show(views), LIST))).toBe(expected);
  });

  test("never says that all are well over a row that is not", async () => {
    for (const view of [WAITING, TURN, MOVING, LEAVING, { ...TURN, state: "failing" as const }]) {
      expect(findHeading(await readPage(show([READY, view]), LIST))).not.toContain("well");
    }
  });

  test("of a standby says only what a standby knows", async () => {
    const working = { ...READY, state: "working" as const };
    const html = await readPage(show([working, working], { isLeading: false }), LIST);
    expect(html).toContain("This process is a standby.");
    expect(findHeading(html)).toBe("2 load balancers");
    expect(await readPage(show([READY], { isLeading: true }), LIST)).not.toContain("standby");
  });

  test("shows first what needs attention, last what works", async () => {
    const html = await readPage(show([READY, MOVING, { ...WAITING, isLeaving: true }]), LIST);
    expect(listRows(html)).toEqual(["store/shop", "default/moving", "default/api"]);
    expect(html).toContain('<span class="mark s-notReady">waiting, being removed</span>');
    expect(html).toContain("the address 192.0.2.77 belongs to another network");
    expect(html).toContain("not ready for 7m");
    expect(html).toContain("<title>(1) Load balancers · Landfall</title>");
  });

  test("says a reason that many share once, with their number", async () => {
    const views = Array.from({ length: 300 }, (_, at) => ({
      ...WAITING,
      name: `s${at}`,
      problems: [{ reason: "NoAddressPool", message: `no pool is for store/s${at}` }],
    }));
    const html = await readPage(show([READY, ...views, TURN]), LIST);
    expect(html.match(/no pool is for/g)).toHaveLength(1);
    expect(html).toContain("<b>300 Services</b>");
    expect(html).toContain("no pool is for …");
    expect(html.match(/its turn in the network web/g)).toHaveLength(1);
  });

  test("links to those in each state, and takes a state and a text from the query", async () => {
    const pages = show([READY, WAITING, READY]);
    const html = await readPage(pages, LIST);
    expect(html).toMatch(
      /class="mark s-well" href="load-balancers\?state=ready"[^>]*><b>2<\/b> ready/,
    );
    expect(html).toMatch(/<a href="load-balancers" aria-current="true"><b>3<\/b> in all/);
    expect(await readPage(pages, `${LIST}?state=waiting`)).not.toContain(">default/api<");
    expect(await readPage(pages, `${LIST}?q=192.0.2.10`)).not.toContain(">store/shop<");
    const all = await readPage(pages, `${LIST}?state=constructor`);
    expect(all).toContain(">default/api<");
    expect(all).toContain(">store/shop<");
  });

  test("have headings over what a search or a state leaves, and no others", async () => {
    const pools = [{ pool: "main", family: "IPv4", used: 1, total: 4 }];
    const pages = show([READY, WAITING, MOVING], { leftovers: [LEFTOVER], pools });
    const look = async (query: string): Promise<[string, string[]]> => {
      const html = await readPage(pages, `${LIST}?${query}`);
      const titles = [...html.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title = ""]) => title);
      return [findHeading(html) ?? "", titles.filter((title) => !/Pages|Look|wait/.test(title))];
    };
    expect(await look("q=default/api")).toEqual([
      "1 of 3 load balancers matches: it is well",
      ["1 Service"],
    ]);
    expect(await look("q=store")).toEqual([
      "1 of 3 load balancers matches: 1 has no address, and 1 address has no Service",
      ["1 Service", "Leftovers: addresses of this cluster without a Service"],
    ]);
    expect(await look("q=main")).toEqual(["No load balancer matches", ["Address pools"]]);
    expect(await look("q=nothing-has-this")).toEqual(["No load balancer matches", []]);
    const [heading, titles] = await look("state=ready");
    expect(heading).toStartWith("1 of 3 load balancers matches: it is well");
    expect(titles).toContain("Address pools");
  });

  test("counts the backends that get traffic, and says where none are needed", async () => {
    const { backends: _none, ...bare } = READY;
    const views = [toLoadBalancerView("some", { serving: 1 }), WAITING, bare];
    const html = await readPage(show(views), LIST);
    expect(html).toContain('<td data-label="Backends">1 of 2</td>');
    expect(html).toContain('<td data-label="Backends">2</td>');
    expect(html).toContain('<td data-label="Backends">not needed</td>');
  });

  test("of thousands shows some, and renews itself less often", async () => {
    const html = await readPage(
      show(Array.from({ length: 1_200 }, (_, at) => toLoadBalancerView(`s${at}`))),
      LIST,
    );
    expect(listRows(html)).toHaveLength(500);
    expect(html).toContain("These are the first 500 of 1,200");
    expect(html).toContain('data-refresh="30"');
  });

  test("shows addresses without a Service, and of many the first", async () => {
    const html = await readPage(show([READY], { leftovers: [LEFTOVER, LEFTOVER] }), LIST);
    expect(findHeading(html)).toBe("2 addresses have no Service");
    for (const text of [LEFTOVER.ip, LEFTOVER.id, "store/old-shop", LEFTOVER.serviceUid]) {
      expect(html).toContain(text);
    }
    const one = await readPage(show([], { leftovers: [LEFTOVER] }), LIST);
    expect(findHeading(one)).toBe("No load balancers yet, and 1 address has no Service");
    const leftovers = Array.from({ length: 101 }, () => LEFTOVER);
    expect(await readPage(show([], { leftovers }), LIST)).toContain(
      "These are the first 100 of 101.",
    );
  });

  test("shows how full address pools are, in figures and as a bar", async () => {
    const huge = { ...POOL, family: "IPv6", total: 2 ** 64 };
    const html = await readPage(show([READY], { pools: [POOL, huge] }), LIST);
    expect(html).toContain('<rect class="s-notReady" width="93.75"');
    expect(html).toContain("more than a million");
  });

  test("is data for programs, with addresses and pools where there are any", async () => {
    expect(JSON.parse(await readData(show([READY]), LIST))).toEqual({ loadBalancers: [READY] });
    const more = { leftovers: [LEFTOVER], pools: [POOL] };
    expect(JSON.parse(await readData(show([READY], more), LIST))).toEqual({
      loadBalancers: [READY],
      ...more,
    });
  });

  test("is a table for terminals, with the reason why one is not ready", async () => {
    const pages = show([READY, LEAVING, WAITING], { leftovers: [LEFTOVER], pools: [POOL] });
    const lines = (await readData(pages, `${LIST}?format=text`)).split("\n");
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, "|"))).toEqual([
      "NAMESPACE|NAME|STATE|ADDRESS|PORTS|BACKENDS|NOT-READY|LAST|AGO|REASON",
      "default|api|ready|192.0.2.10|tcp 80, tcp 443|2|-|unchanged|45s|-",
      "default|old|working, being removed|192.0.2.10|tcp 80, tcp 443|2|-|unchanged|45s|-",
      "store|shop|waiting|-|tcp 80, tcp 443|2|7m|waiting|10s|the address 192.0.2.77 belongs to another network",
      "",
      "LEFTOVER|ADDRESS-ID|SERVICE|SERVICE-UID|RULES|AS-OF",
      `192.0.2.99|${LEFTOVER.id}|store/old-shop|${LEFTOVER.serviceUid}|2|2026-01-01 00:05 UTC`,
      "",
      "POOL|FAMILY|IN-USE|ADDRESSES",
      "edge|IPv4|15|16",
      "",
    ]);
  });
});

describe("the page of one", () => {
  const read = (view: LoadBalancerView): Promise<string> =>
    readPage(show([view]), `${LIST}/${view.namespace}/${view.name}`);

  test("compares each part, by kind, and shows problems and the next steps", async () => {
    const html = await read(WAITING);
    expect([...html.matchAll(/<caption>([^<]*)/g)].map(([, title]) => title)).toEqual([
      "Address",
      "Rule",
    ]);
    expect([...html.matchAll(/<td class="verdict">([^<]*)/g)].map(([, word]) => word)).toEqual([
      "missing",
      "differs",
      "not desired",
    ]);
    expect(html).toContain("<h3>AddressNotOurs</h3>");
    expect(html).toContain("<h3>ForeignRule</h3>");
    expect(html).toContain("<li>create rule tcp 80 on 192.0.2.77</li>");
    expect(html).toContain("<dd>not for 7m</dd>");
  });

  test("of one that is ready has no problems and no steps", async () => {
    const html = await read(READY);
    expect(html).not.toContain('id="problems"');
    expect(html).not.toContain('id="steps"');
    expect(html).toContain("It has all that the Service asks for.");
    expect(html).toContain("<dd>2 Nodes<");
    expect(await read({ ...READY, serving: 1 })).toContain("<dd>1 of 2 Nodes<");
  });

  test("says that it has not looked yet, and why it failed", async () => {
    const html = await read({ ...READY, state: "failing", parts: [], failure: "no answer" });
    expect(html).toContain("This process has not looked at the cloud for it yet.");
    expect(html).toContain("<dd>no answer</dd>");
  });

  test("names some of thousands of Nodes", async () => {
    const backends = Array.from({ length: 3_000 }, (_, at) => `node-${at}`);
    const html = await read({ ...READY, backends });
    expect(html).toContain("3,000 Nodes");
    expect(html).toContain("node-199, …");
    expect(html).not.toContain("node-200");
  });

  test("of one that waits says why twice: at the top, and as a problem", async () => {
    const why = "no pool is for it";
    const { backends: _none, ...rest } = toLoadBalancerView("api", {
      state: "waiting",
      failure: why,
      problems: [{ reason: "NoAddressPool", message: why }],
      parts: [{ kind: "address", name: "IPv4", actual: "192.0.2.10", isUndecided: true }],
      lastReconcile: { at: "2026-01-01T00:09:50Z", outcome: "waiting" },
    });
    const html = await read(rest);
    expect(html.split(why).length - 1).toBe(2);
    expect(html).toContain('<td class="verdict">unknown</td>');
    expect(html).toContain("another program announces the address");
    const text = await readData(show([rest]), `${LIST}/default/api?format=text`);
    expect(text).toMatch(/^Address +IPv4 +unknown +192\.0\.2\.10$/m);
  });

  test("is data for programs, and tables for terminals", async () => {
    const pages = show([WAITING]);
    expect(JSON.parse(await readData(pages, `${LIST}/store/shop`))).toEqual(WAITING);
    const text = await readData(pages, `${LIST}/store/shop?format=text`);
    expect(text).toMatch(/^Rule +tcp 80 +to 30080 +to 31999$/m);
    expect(text).toMatch(/^Rule +udp 53 +- +to 30053$/m);
    expect(text).toMatch(/^AddressNotOurs +the address/m);
    expect(text).toMatch(/^2 +create rule tcp 80 on 192\.0\.2\.77$/m);
  });

  test("that is not there is a page, JSON or a line with 404", async () => {
    const pages = show([READY]);
    const path = `/debug/${LIST}/store/none`;
    const page = await pages.request(path, HTML);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain("There is no load balancer “store/none”");
    const data = await pages.request(path);
    expect(data.status).toBe(404);
    expect(await data.json()).toEqual({ error: 'there is no load balancer "store/none"' });
    expect(await readData(pages, `${LIST}/store/none?format=text`)).toBe(
      'there is no load balancer "store/none"\n',
    );
  });
});

test.each([
  ["why it failed first", { failure: "f", waitsFor: "w", problems: WAITING.problems }, "f"],
  [
    "a problem that it waits for",
    { waitsFor: "w", problems: WAITING.problems },
    "the address 192.0.2.77 belongs to another network",
  ],
  ["what it waits for", { waitsFor: "w", problems: WAITING.problems.slice(1) }, "w"],
  ["a notice", { problems: WAITING.problems.slice(1) }, "ForeignRule: left alone"],
  ["nothing", {}, "-"],
])("a table for terminals says %s", async (_title, over, expected) => {
  const text = await readData(show([toLoadBalancerView("a", over)]), `${LIST}?format=text`);
  expect(text.trimEnd()).toEndWith(`  ${expected}`);
});

describe("beside Nodes", () => {
  const node = toNodeView("a");
  const debug = {
    listNodes: () => [node],
    findNode: () => node,
    readInventory: () => toInventoryView(),
  };
  const pages = toPages({ debug, loadBalancers: toSource([READY, WAITING]) });

  test("each page links to the others, also behind a proxy with a path of its own", async () => {
    const links = async (path: string): Promise<readonly string[]> => {
      const found = [...(await readPage(pages, path)).matchAll(/href="([^"#:]*)"/g)];
      return found.map(([, link = ""]) => new URL(link, `http://x/proxy/debug/${path}`).pathname);
    };
    expect(await links(LIST)).toContain("/proxy/debug/load-balancers/store/shop");
    expect(await links(LIST)).toContain("/proxy/debug/");
    const one = await links(`${LIST}/store/shop`);
    expect(one).toContain("/proxy/debug/load-balancers");
    expect(one).toContain("/proxy/debug/");
    expect(one).toContain("/proxy/debug/load-balancers/store/shop");
    for (const path of ["", "nodes/a"]) {
      expect(await links(path)).toContain("/proxy/debug/load-balancers");
    }
  });

  test("the page that is shown is marked among the others", async () => {
    const toCurrent = (html: string): string | undefined =>
      /<nav class="places"[^]*?aria-current="(\w+)">([^<]*)/.exec(html)?.slice(1).join(": ");
    expect(toCurrent(await readPage(pages, ""))).toBe("page: Nodes");
    expect(toCurrent(await readPage(pages, LIST))).toBe("page: Load balancers");
    expect(toCurrent(await readPage(pages, `${LIST}/store/shop`))).toBe("true: Load balancers");
    expect(toCurrent(await readPage(pages, "nodes/a"))).toBe("true: Nodes");
  });

  test("there are no such pages and no links to them if nothing makes load balancers", async () => {
    const without = toPages({ debug });
    expect((await without.request(`/debug/${LIST}`, HTML)).status).toBe(404);
    for (const path of ["/", "/debug/"]) {
      expect(await (await without.request(path)).text()).not.toContain(LIST);
      expect(await (await without.request(path, HTML)).text()).not.toContain(LIST);
      expect(await (await pages.request(path)).text()).toContain(`/debug/${LIST}\n`);
    }
  });
});

test("links encode what may stand in no path", async () => {
  const html = await readPage(show([toLoadBalancerView("ü?")]), LIST);
  expect(html).toContain('href="load-balancers/default/%C3%BC%3F"');
});

test("nothing that anybody wrote becomes markup", async () => {
  const evil = show([
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
  for (const path of [LIST, `${LIST}/${key}`]) {
    const text = await readPage(evil, path);
    expect(text).toContain("&lt;img src=x");
    expect(text).not.toContain("<img");
    expect(text.match(/<script>/g)).toHaveLength(1);
  }
});
