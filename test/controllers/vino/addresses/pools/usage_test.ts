import { expect, test } from "bun:test";
import { listPoolUsage } from "../../../../../lib/controllers/vino/addresses/pools/usage.ts";
import type { IpPool, IpPoolSpec } from "../../../../../lib/controllers/vino/resource/ip_pool.ts";

const MAC = "02:00:00:00:00:01";

function toPool(name: string, spec: IpPoolSpec): IpPool {
  return { metadata: { name, namespace: "landfall" }, spec };
}

test("listPoolUsage() counts addresses that are given out, and those of all ranges once", () => {
  const ranges = [
    { start: "192.0.2.10", stop: "192.0.2.19" },
    { start: "192.0.2.15", stop: "192.0.2.24" },
  ];
  const allocatedIPs = ["192.0.2.10", "192.0.2.99"].map((ip) => ({
    ip,
    mac: MAC,
    allocatedTo: ip,
  }));
  expect(listPoolUsage([toPool("a", { subnet: "192.0.2.0/24", ranges, allocatedIPs })])).toEqual([
    { pool: "a", family: "IPv4", used: 2, total: 16 },
  ]);
});

test("listPoolUsage() is in order of names, and leaves out what it cannot read", () => {
  const ranges = [{ start: "2001:db8::", stop: "2001:db8::ffff:ffff:ffff:ffff" }];
  const pools = [
    toPool("b", { subnet: "2001:db8::/64", ranges }),
    toPool("a", { subnet: "192.0.2.0/24" }),
    toPool("c", { subnet: "none" }),
    { metadata: { name: "d" } },
  ];
  expect(listPoolUsage(pools)).toEqual([
    { pool: "a", family: "IPv4", used: 0, total: 0 },
    { pool: "b", family: "IPv6", used: 0, total: 2 ** 64 },
  ]);
});
