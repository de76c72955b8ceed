import { expect, test } from "bun:test";
import { Allocations } from "../../../lib/cloud/pools/allocations.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { listUsage } from "../../../lib/cloud/pools/usage.ts";
import { toSettings } from "../../support/pools/services.ts";

test("listUsage() counts each family that a pool has, also more addresses than a number can count", () => {
  const { pools } = toSettings(
    { name: "both", addresses: ["192.0.2.0/28", "2001:db8::/64"] },
    { name: "six", addresses: ["2001:db8:1::/126"] },
  );
  expect(listUsage(new Allocations(new PoolMap(pools)))).toEqual([
    { pool: "both", family: "IPv4", used: 0, total: 14 },
    { pool: "both", family: "IPv6", used: 0, total: 2 ** 64 },
    { pool: "six", family: "IPv6", used: 0, total: 3 },
  ]);
});
