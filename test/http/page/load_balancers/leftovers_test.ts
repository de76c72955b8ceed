import { expect, test } from "bun:test";
import { renderLoadBalancerList } from "../../../../lib/http/page/load_balancers/list_page.tsx";
import type { LeftoverView } from "../../../../lib/http/load_balancers/views.ts";
import { LEFTOVER, PLACES } from "../../../support/page/load_balancer_views.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";

const TITLE = "Leftovers: addresses of this cluster without a Service";

function render(leftovers: readonly LeftoverView[]): Promise<string> {
  return renderLoadBalancerList({ rows: [], leftovers, nowMs: PAGE_NOW, base: "", places: PLACES });
}

test("Leftovers() shows each address with what its tags say", async () => {
  const html = await render([LEFTOVER]);
  expect(html).toContain(TITLE);
  for (const text of [LEFTOVER.ip, LEFTOVER.id, "store/old-shop", LEFTOVER.serviceUid]) {
    expect(html).toContain(text);
  }
});

test("Leftovers() shows nothing if there are none", async () => {
  expect(await render([])).not.toContain("Leftovers");
});

test("Leftovers() shows tags as text, and of many the first", async () => {
  expect(await render([{ ...LEFTOVER, service: "<script>" }])).toContain("&lt;script&gt;");
  const html = await render(Array.from({ length: 101 }, () => LEFTOVER));
  expect(html.match(/<tr>/g)).toHaveLength(101);
  expect(html).toContain("These are the first 100 of 101.");
});
