import { describe, expect, test } from "bun:test";
import {
  accepts,
  type AddressPool,
  countAddresses,
  listPreferred,
  PoolMap,
  toFamily,
} from "../../../lib/cloud/pools/pool.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

function toPool(addresses: readonly string[], fields: object = {}): AddressPool {
  const [pool] = toSettings({ name: "a", addresses, ...fields }).pools;
  if (pool === undefined) throw new Error("no pool");
  return pool;
}

describe("listPreferred()", () => {
  const sizes: readonly (readonly string[])[] = [
    ["192.0.2.1"],
    ["192.0.2.1-192.0.2.2"],
    ["192.0.2.0/28", "192.0.2.100", "192.0.2.200-192.0.2.206"],
    ["10.0.0.1-10.0.3.253"],
    ["2001:db8::/120", "2001:db8:1::7"],
  ];
  test.each(sizes)("lists every address of %j once", (...addresses) => {
    const pool = toPool(addresses);
    const family = toFamily(addresses[0] ?? "");
    const map = new PoolMap([pool]);
    for (const text of ["web/shop", "", "ops/x"]) {
      const all = [...listPreferred(pool, family, text)];
      expect(BigInt(new Set(all).size)).toBe(countAddresses(pool, family));
      expect(all.length).toBe(new Set(all).size);
      for (const one of all) expect(map.find(one)).toBe(pool);
    }
  });

  test("lists nothing of a family that the pool does not have", () => {
    expect([...listPreferred(toPool(["192.0.2.1"]), 6, "web/shop")]).toEqual([]);
  });

  test("always begins with the same addresses, also in a huge pool", () => {
    const first = (addresses: readonly string[], family: 4 | 6): string[] => [
      ...listPreferred(toPool(addresses), family, "web/shop").take(2),
    ];
    // They are in clusters: they must not change with a version.
    expect(first(["10.0.0.0/12"], 4)).toEqual(["10.8.21.126", "10.15.251.73"]);
    expect(first(["2001:db8::/64"], 6)).toEqual([
      "2001:db8::b89a:555d:6865:e2e7",
      "2001:db8::6065:c9f6:14d0:f463",
    ]);
  });
});

describe("PoolMap", () => {
  const settings = toSettings(
    { name: "a", addresses: ["192.0.2.0/28", "198.51.100.7", "2001:db8::/64"] },
    { name: "b", addresses: ["192.0.2.16-192.0.2.20", "10.0.0.0/8", "2001:db8:0:1::/64"] },
  );
  const cases: readonly [string, string | undefined][] = [
    ["192.0.2.0", undefined],
    ["192.0.2.1", "a"],
    ["192.0.2.14", "a"],
    ["192.0.2.15", undefined],
    ["192.0.2.16", "b"],
    ["192.0.2.21", undefined],
    ["198.51.100.7", "a"],
    ["10.255.0.0", "b"],
    ["9.255.255.255", undefined],
    ["2001:db8::1", "a"],
    ["2001:db8:0:1::1", "b"],
    ["2001:db8:0:2::1", undefined],
    ["::a00:1", undefined],
    ["text", undefined],
  ];
  test.each(cases)("finds the pool of %s: %s", (address, name) => {
    expect(new PoolMap(settings.pools).find(address)?.name).toBe(name);
    expect(new PoolMap(settings.pools.toReversed()).find(address)?.name).toBe(name);
  });
});

describe("accepts()", () => {
  const cases: readonly [object, boolean][] = [
    [{}, true],
    [{ namespaces: ["web"] }, true],
    [{ namespaces: ["shop"] }, false],
    [{ selector: { tier: "gold" } }, true],
    [{ selector: { tier: "silver" } }, false],
    [{ selector: { other: "" } }, false],
    [{ selector: { tier: "gold", app: "x" } }, false],
    [{ namespaces: ["shop"], selector: { tier: "gold" } }, false],
  ];
  test.each(cases)("a pool with %j: %p", (fields, is) => {
    const pool = toPool(["192.0.2.1"], fields);
    expect(accepts(pool, toSpec("one", { labels: { tier: "gold" } }))).toBe(is);
  });
});
