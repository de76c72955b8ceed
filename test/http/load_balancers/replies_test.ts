import { expect, test } from "bun:test";
import { describeWait } from "../../../lib/http/load_balancers/replies.ts";
import { createLoadBalancerRoutes } from "../../../lib/http/page/load_balancers/mod.ts";
import {
  LEFTOVER,
  POOL,
  toLoadBalancerSource,
  toLoadBalancerView,
  WAITING,
} from "../../support/page/load_balancer_views.ts";
import { PAGE_NOW } from "../../support/page/node_views.ts";

const SHARED = { now: () => PAGE_NOW, places: [] };
const READY = toLoadBalancerView("api");
const LEAVING = toLoadBalancerView("old", { isLeaving: true, state: "working" });
const loadBalancers = toLoadBalancerSource([READY, LEAVING, WAITING]);
const routes = createLoadBalancerRoutes(loadBalancers, SHARED);

async function readText(path: string): Promise<string> {
  return (await routes.request(path)).text();
}

test("createLoadBalancerRoutes() lists all load balancers as JSON", async () => {
  const response = await routes.request("/debug/load-balancers");
  expect(await response.json()).toEqual({ loadBalancers: [READY, LEAVING, WAITING] });
});

test("createLoadBalancerRoutes() lists them as a table, with the reason why one is not ready", async () => {
  const lines = (await readText("/debug/load-balancers?format=text")).split("\n");
  const rows = [
    "NAMESPACE|NAME|STATE|ADDRESS|PORTS|BACKENDS|NOT-READY|LAST|AGO|REASON",
    "default|api|ready|192.0.2.10|tcp 80,tcp 443|2|-|unchanged|45s|-",
    "default|old|working, leaving|192.0.2.10|tcp 80,tcp 443|2|-|unchanged|45s|-",
    "store|shop|waiting|-|tcp 80,tcp 443|2|7m|waiting|10s|the address 192.0.2.77 belongs to another network",
    "",
  ];
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, "|"))).toEqual(rows);
});

test("createLoadBalancerRoutes() adds addresses without a Service to the list, if there are any", async () => {
  const source = toLoadBalancerSource([READY], [LEFTOVER]);
  const more = createLoadBalancerRoutes(source, SHARED);
  const response = await more.request("/debug/load-balancers");
  expect(await response.json()).toEqual({ loadBalancers: [READY], leftovers: [LEFTOVER] });
  const text = await (await more.request("/debug/load-balancers?format=text")).text();
  const lines = text.split("\n").map((line) => line.replaceAll(/ {2,}/g, "|"));
  expect(lines.slice(2)).toEqual([
    "",
    "LEFTOVER|ADDRESS-ID|SERVICE|SERVICE-UID|RULES|AS-OF",
    `192.0.2.99|${LEFTOVER.id}|store/old-shop|${LEFTOVER.serviceUid}|2|2026-01-01T00:05:00.000Z`,
    "",
  ]);
});

test("createLoadBalancerRoutes() adds address pools, and has no backends for what has none", async () => {
  const { backends: _none, ...view } = toLoadBalancerView("api", {
    problems: [{ reason: "AddressOutsidePools", message: "in no pool", isWaiting: false }],
    parts: [{ kind: "address", name: "IPv4", actual: "192.0.2.10", isUndecided: true }],
  });
  const source = toLoadBalancerSource([view], [], [POOL]);
  const more = createLoadBalancerRoutes(source, SHARED);
  const response = await more.request("/debug/load-balancers");
  expect(await response.json()).toEqual({ loadBalancers: [view], pools: [POOL] });
  const text = await (await more.request("/debug/load-balancers?format=text")).text();
  const lines = text.split("\n").map((line) => line.replaceAll(/ {2,}/g, "|"));
  expect(lines.slice(1)).toEqual([
    "default|api|ready|192.0.2.10|tcp 80,tcp 443|-|-|unchanged|45s|AddressOutsidePools: in no pool",
    "",
    "POOL|FAMILY|USED|TOTAL",
    "edge|IPv4|15|16",
    "",
  ]);
  const one = await (await more.request("/debug/load-balancers/default/api?format=text")).text();
  expect(one).toMatch(/^address +IPv4 +unknown +192\.0\.2\.10$/m);
});

test("createLoadBalancerRoutes() counts the backends that get traffic, if that is known", async () => {
  const some = toLoadBalancerView("api", { serving: 1 });
  const source = toLoadBalancerSource([some]);
  const answer = await createLoadBalancerRoutes(source, SHARED).request(
    "/debug/load-balancers?format=text",
  );
  expect(await answer.text()).toContain("  1/2  ");
});

test("createLoadBalancerRoutes() shows one by namespace and name, as JSON and as text", async () => {
  const response = await routes.request("/debug/load-balancers/store/shop");
  expect(await response.json()).toEqual(WAITING);
  const text = await readText("/debug/load-balancers/store/shop?format=text");
  expect(text).toMatch(/^rule +tcp 80 +to 30080 +to 31999$/m);
  expect(text).toMatch(/^rule +udp 53 +- +to 30053$/m);
  expect(text).toMatch(/^AddressNotOurs +the address/m);
  expect(text).toMatch(/^2 +create rule tcp 80 on 192\.0\.2\.77$/m);
  expect(text).toContain("\nn1\nn2\n");
});

test("createLoadBalancerRoutes() answers 404 for a Service without one", async () => {
  const response = await routes.request("/debug/load-balancers/store/none");
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ error: 'there is no load balancer of "store/none"' });
  const text = await routes.request("/debug/load-balancers/store/none?format=text");
  expect(await text.text()).toBe('there is no load balancer of "store/none"\n');
});

test.each([
  ["why it failed first", { failure: "f", waitsFor: "w", problems: WAITING.problems }, "f"],
  [
    "a problem that it waits for",
    { waitsFor: "w", problems: WAITING.problems },
    "the address 192.0.2.77 belongs to another network",
  ],
  ["what it waits for", { waitsFor: "w", problems: WAITING.problems.slice(1) }, "w"],
  ["nothing", {}, ""],
])("describeWait() says %s", (_title, over, expected) => {
  expect(describeWait(toLoadBalancerView("a", over))).toBe(expected);
});
