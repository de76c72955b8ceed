import { expect, test } from "bun:test";
import { Pools } from "../../../../lib/http/page/objects/pools.tsx";
import { POOL } from "../../../support/page/load_balancer_views.ts";

test("Pools() shows how many addresses are in use, and does not write out huge numbers", () => {
  const huge = { ...POOL, family: "IPv6", total: 2 ** 64 };
  const html = String(Pools({ pools: [POOL, huge] }));
  expect(html).toContain('<td data-label="In use">15</td><td data-label="Addresses">16</td>');
  expect(html).toContain("more than a million");
  expect(html).not.toContain("18,446");
});

test("Pools() shows nothing without pools", () => {
  expect(Pools({ pools: [] })).toBeNull();
});
