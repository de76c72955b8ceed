import { expect, test } from "bun:test";
import {
  PoolSet,
  toPoolName,
} from "../../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { MANAGEMENT, PXE } from "../../../../support/vino/address_requests.ts";

test.each([
  ["192.168.0.0/20", "ippool-192-168-0-0-20"],
  ["2001:db8:0:1::/64", "ippool-2001-db8-0-1---64"],
  ["::/0", "ippool----0"],
])("toPoolName() names the pool of %s as the original operator did", (subnet, name) => {
  expect(toPoolName(subnet)).toBe(name);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
});

test("PoolSet finds what an owner has in any pool", () => {
  const mac = "02:00:00:00:00:AA";
  const pools = new Map([
    ["a", { subnet: "10.0.0.0/24" }],
    ["b", { subnet: "10.0.1.9/24", allocatedIPs: [{ ip: "10.0.1.1", mac, allocatedTo: "x" }] }],
  ]);
  const set = new PoolSet({ pools, networks: [] });
  expect(set.find("x")).toMatchObject({ ip: "10.0.1.1", subnet: "10.0.1.0/24" });
  expect(set.find("y")).toBeUndefined();
  expect([set.hasMac("02:00:00:00:00:aa"), set.hasMac(mac), set.countMacs()]).toEqual([
    true,
    false,
    1,
  ]);
});

test("PoolSet makes no pool that gave nothing", () => {
  const set = new PoolSet({
    pools: new Map(),
    networks: [{ vino: "metal/a", network: MANAGEMENT }],
  });
  expect(set.open(PXE)).toBeUndefined();
  expect(set.open(MANAGEMENT)).toMatchObject({
    pool: { name: "ippool-192-168-0-0-20", isNew: true },
  });
  expect(set.listChanged().size).toBe(0);
});
