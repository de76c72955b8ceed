import { expect, test } from "bun:test";
import { toPoolName } from "../../../../../lib/controllers/vino/addresses/pools/pool_set.ts";

test.each([
  ["192.168.0.0/20", "ippool-192-168-0-0-20"],
  ["2001:db8:0:1::/64", "ippool-2001-db8-0-1---64"],
  ["::/0", "ippool----0"],
])("toPoolName() names the pool of %s as the original operator did", (subnet, name) => {
  expect(toPoolName(subnet)).toBe(name);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
});
