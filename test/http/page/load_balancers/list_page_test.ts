import { expect, test } from "bun:test";
import {
  type LoadBalancerListOptions,
  renderLoadBalancerList,
  toLoadBalancerRow,
} from "../../../../lib/http/page/load_balancers/list_page.tsx";
import type { LoadBalancerView } from "../../../../lib/http/load_balancers/views.ts";
import {
  LEFTOVER,
  POOL,
  toLoadBalancerView,
  WAITING,
  PLACES,
} from "../../../support/page/load_balancer_views.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";

const READY = toLoadBalancerView("api");

function render(
  views: readonly LoadBalancerView[],
  over: Partial<LoadBalancerListOptions> = {},
): Promise<string> {
  const rows = views.map(toLoadBalancerRow);
  return renderLoadBalancerList({ rows, nowMs: PAGE_NOW, base: "", places: PLACES, ...over });
}

test.each<[string, readonly LoadBalancerView[], string]>([
  ["none", [], "No load balancers yet"],
  ["one that is well", [READY], "The only load balancer is well"],
  ["two that are well", [READY, READY], "All 2 load balancers are well"],
  ["one in trouble", [READY, WAITING], "1 of 2 load balancers needs attention"],
  ["two in trouble", [WAITING, WAITING], "2 of 2 load balancers need attention"],
])("renderLoadBalancerList() of %s says it in the heading", async (_title, views, expected) => {
  expect(await render(views)).toContain(`<h1>${expected}</h1>`);
});

test("renderLoadBalancerList() links to those in each state, which look like states of Nodes", async () => {
  const html = await render([READY, WAITING, READY]);
  expect(html).toMatch(
    /class="mark s-well" href="load-balancers\?state=ready"[^>]*><b>2<\/b> ready/,
  );
  expect(html).toMatch(/<a href="load-balancers" aria-current="page"><b>3<\/b> in all/);
});

test("renderLoadBalancerList() shows first what needs attention, and why", async () => {
  const html = await render([READY, { ...WAITING, isLeaving: true }]);
  expect(html).toContain('<span class="mark s-notReady">waiting, being removed</span>');
  expect(html.indexOf(">store/shop<")).toBeLessThan(html.indexOf(">default/api<"));
  expect(html).toContain("the address 192.0.2.77 belongs to another network");
  expect(html).toContain("not ready for 7m");
  expect(html).toContain("<title>(1) Load balancers · Landfall</title>");
});

test("renderLoadBalancerList() counts the backends that get traffic, if that is known", async () => {
  const html = await render([toLoadBalancerView("api", { serving: 1 }), WAITING]);
  expect(html).toContain('<td data-label="Backends">1 of 2</td>');
  expect(html).toContain('<td data-label="Backends">2</td>');
});

test("renderLoadBalancerList() of a standby says that only the leader knows the states", async () => {
  const election = { lease: "l", identity: "b", holder: "a", isLeading: false };
  expect(await render([READY], { election })).toContain("This process is a standby.");
  const leading = { ...election, isLeading: true };
  expect(await render([READY], { election: leading })).not.toContain("standby");
});

test("renderLoadBalancerList() of thousands shows some, and reloads less often", async () => {
  const many = Array.from({ length: 600 }, (_, at) => toLoadBalancerView(`s${at}`));
  const html = await render(many);
  expect(html.match(/<tr>/g)).toHaveLength(501);
  expect(html).toContain("These are the first 500 of 600");
  expect(html).toContain('data-refresh="30"');
});

test("renderLoadBalancerList() says how many leftovers there are in the heading", async () => {
  const html = await render([READY], { leftovers: [LEFTOVER, LEFTOVER] });
  expect(html).toContain("<h1>The only load balancer is well, 2 leftovers</h1>");
  expect(await render([], { leftovers: [LEFTOVER] })).toContain(
    "<h1>No load balancers yet, 1 leftover</h1>",
  );
});

test("renderLoadBalancerList() shows notices of one that is ready, and pools instead of backends", async () => {
  const { backends: _none, ...view } = toLoadBalancerView("api", {
    problems: [{ reason: "AddressOutsidePools", message: "in no pool", isWaiting: false }],
  });
  const huge = { ...POOL, family: "IPv6", total: 2 ** 64 };
  const html = await render([view], { pools: [POOL, huge] });
  expect(html).toContain("AddressOutsidePools: in no pool");
  expect(html).toContain('<td data-label="Backends"></td>');
  expect(html).toContain('<td data-label="In use">15</td><td data-label="Addresses">16</td>');
  expect(html).toContain("more than a million");
});
