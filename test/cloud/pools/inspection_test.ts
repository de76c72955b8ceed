import { expect, test } from "bun:test";
import { inspectPools } from "../../../lib/cloud/pools/inspection.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

const { pools } = toSettings(
  { name: "small", addresses: ["192.0.2.10-192.0.2.11"] },
  { name: "huge", addresses: ["2001:db8::/64"] },
);

function inspect(...shown: readonly string[]): string[] {
  const claims = shown.map((ip, at) => toSpec(`s${at}`, { ingress: [{ ip }] }));
  const findings = inspectPools(new PoolMap(pools), claims, new Map());
  return findings.map(({ level, code, message }) => `${level} ${code}: ${message}`);
}

test("inspectPools() says how full each pool is", () => {
  expect(inspect("192.0.2.10", "2001:db8::7")).toEqual([
    "ok addressPool: address pool small: 1 of 2 IPv4 addresses are in use",
    "ok addressPool: address pool huge: 1 of more than a million IPv6 addresses are in use",
  ]);
});

test("inspectPools() warns about a pool that is full, and about addresses that are not as they should be", () => {
  expect(inspect("192.0.2.10", "192.0.2.11", "192.0.2.11", "198.51.100.1")).toEqual([
    "warning addressPoolFull: address pool small: 2 of 2 IPv4 addresses are in use",
    "ok addressPool: address pool huge: 0 of more than a million IPv6 addresses are in use",
    "warning addressConflict: Service web/s1 shows 192.0.2.11, which is also the address of Service web/s2",
    "warning addressOutsidePools: 1 Service shows an address outside the address pools: web/s3",
  ]);
});

test("inspectPools() names a few of many conflicts", () => {
  const shown = Array.from({ length: 30 }, (_, at) => `2001:db8::${at + 1}`);
  const found = inspect(...shown, ...shown);
  expect(found.filter((line) => line.includes("addressConflict"))).toHaveLength(11);
  expect(found.at(-1)).toBe("warning addressConflict: 20 more Services show addresses of others");
});

test("inspectPools() names a few of many Services outside", () => {
  const found = inspect(...Array.from({ length: 7 }, (_, at) => `198.51.100.${at + 1}`));
  expect(found.at(-1)).toEndWith(
    "7 Services show an address outside the address pools: web/s0, web/s1, web/s2, web/s3, web/s4, …",
  );
});

test("inspectPools() names Services with a pool that there is not, and what was meant", () => {
  const toClaim = (name: string, pool: string) =>
    toSpec(name, { annotations: { "landfall.dev/address-pool": pool } });
  const claims = [
    toClaim("a", "smal"),
    toClaim("b", "smal"),
    toClaim("c", "x"),
    toClaim("d", "huge"),
  ];
  const found = inspectPools(new PoolMap(pools), claims, new Map());
  const [source, all] = ["landfall.dev/address-pool names", "the pools are small, huge"];
  expect(found.filter(({ level }) => level !== "ok")).toMatchObject([
    {
      code: "addressPoolUnknown",
      message: `2 Services web/a, web/b: ${source} "smal", which is no pool (did you mean small?); ${all}`,
    },
    { message: `Service web/c: ${source} "x", which is no pool; ${all}` },
  ]);
});
