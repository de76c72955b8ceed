import { expect, test } from "bun:test";
import { renderLoadBalancerPage } from "../../../../lib/http/page/load_balancers/detail_page.tsx";
import type { LoadBalancerView } from "../../../../lib/http/load_balancers/views.ts";
import { toLoadBalancerView, WAITING, PLACES } from "../../../support/page/load_balancer_views.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";

function render(view: LoadBalancerView): Promise<string> {
  return renderLoadBalancerPage({ view, nowMs: PAGE_NOW, base: "../../", places: PLACES });
}

test("renderLoadBalancerPage() compares each part, by kind", async () => {
  const html = await render(WAITING);
  expect([...html.matchAll(/<caption>([^<]*)/g)].map(([, title]) => title)).toEqual([
    "Address",
    "Rule",
  ]);
  expect([...html.matchAll(/<td class="verdict">([^<]*)/g)].map(([, word]) => word)).toEqual([
    "missing",
    "differs",
    "not desired",
  ]);
});

test("renderLoadBalancerPage() shows problems, the next steps and what it waits for", async () => {
  const html = await render(WAITING);
  expect(html).toContain("<h3>AddressNotOurs</h3>");
  expect(html).toContain("<h3>ForeignRule</h3>");
  expect(html).toContain("<li>create rule tcp 80 on 192.0.2.77</li>");
  expect(html).toContain("<dd>not for 7m</dd>");
});

test("renderLoadBalancerPage() counts the backends that get traffic, if that is known", async () => {
  expect(await render(toLoadBalancerView("api", { serving: 1 }))).toContain("<dd>1 of 2 Nodes<");
  expect(await render(toLoadBalancerView("api"))).toContain("<dd>2 Nodes<");
});

test("renderLoadBalancerPage() of one that is ready has no problems and no steps", async () => {
  const html = await render(toLoadBalancerView("api"));
  expect(html).not.toContain('id="problems"');
  expect(html).not.toContain('id="steps"');
  expect(html).toContain("It is as the Service asks.");
});

test("renderLoadBalancerPage() says that it has not looked yet, and why it failed", async () => {
  const html = await render(
    toLoadBalancerView("api", { state: "failing", parts: [], failure: "no answer" }),
  );
  expect(html).toContain("This process has not looked at the cloud for it yet.");
  expect(html).toContain("<dd>no answer</dd>");
});

test("renderLoadBalancerPage() names some of thousands of Nodes", async () => {
  const backends = Array.from({ length: 3_000 }, (_, at) => `node-${at}`);
  const html = await render(toLoadBalancerView("api", { backends }));
  expect(html).toContain("3,000 Nodes");
  expect(html).toContain("node-199, …");
  expect(html).not.toContain("node-200");
});

test("renderLoadBalancerPage() of one that waits says why twice: at the top, and as a problem", async () => {
  const why = "no pool is for it";
  const view = toLoadBalancerView("api", {
    state: "waiting",
    failure: why,
    problems: [{ reason: "NoAddressPool", message: why }],
    parts: [{ kind: "address", name: "IPv4", actual: "192.0.2.10", isUndecided: true }],
    lastReconcile: { at: "2026-01-01T00:09:50Z", outcome: "waiting" },
  });
  const { backends: _none, ...rest } = view;
  const html = await render(rest);
  expect(html.split(why).length - 1).toBe(2);
  expect(html).toContain('<td class="verdict">unknown</td>');
  expect(html).not.toContain("not desired");
  expect(html).not.toContain("Backends");
});
