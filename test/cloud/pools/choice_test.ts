/**
 * Which address a Service gets, by what it asks for and by what others have.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../lib/cloud/capabilities/load_balancers.ts";
import { PooledServices, settleFirst, toSettings, toSpec } from "../../support/pools/services.ts";

const POOL = "landfall.dev/address-pool";
const IPS = "landfall.dev/load-balancer-ips";
const SHARED = "landfall.dev/shared-address";

const POOLS = toSettings(
  { name: "main", addresses: ["192.0.2.10-192.0.2.19", "2001:db8::/64"], shareable: true },
  { name: "ops", addresses: ["198.51.100.0/28"], namespaces: ["ops"] },
  { name: "gold", addresses: ["203.0.113.10-203.0.113.11"], selector: { tier: "gold" } },
  { name: "rare", addresses: ["203.0.113.20-203.0.113.29"], autoAssign: false },
);

type Fields = Parameters<typeof toSpec>[1];

function toVip(ip: string): { readonly ip: string; readonly ipMode: "VIP" } {
  return { ip, ipMode: "VIP" };
}

/** What a new Service gets: its addresses, and what is said. */
async function settleNew(
  fields: Fields,
  services: PooledServices = new PooledServices(POOLS),
): Promise<{ readonly shown: string[]; readonly said: string[] }> {
  const spec = services.put(toSpec("shop", fields));
  const { problems } = await services.settle(spec);
  const said = problems.map(({ reason, message }) => `${reason}: ${message}`);
  return { shown: services.shown(spec), said };
}

describe("a wish for a pool", () => {
  const found: readonly [string, Fields, string][] = [
    ["the first pool that is for it", {}, "192.0.2."],
    [
      "the pool of its namespace, if it asks",
      { namespace: "ops", annotations: { [POOL]: "ops" } },
      "198.51.100.",
    ],
    [
      "the pool of its labels, if it asks",
      { labels: { tier: "gold" }, annotations: { [POOL]: " gold " } },
      "203.0.113.1",
    ],
    ["a pool that is only given on request", { annotations: { [POOL]: "rare" } }, "203.0.113.2"],
    [
      "an address of a pool that is only given on request",
      { annotations: { [IPS]: "203.0.113.25" } },
      "203.0.113.25",
    ],
    ["the first pool with an empty wish", { annotations: { [POOL]: " " } }, "192.0.2."],
    [
      "what the annotation asks for, not what spec.loadBalancerIP does",
      { annotations: { [IPS]: "192.0.2.11" }, address: "192.0.2.12" },
      "192.0.2.11",
    ],
  ];
  test.each(found)("gives %s", async (_title, fields, start) => {
    const { shown, said } = await settleNew(fields);
    expect(said).toEqual([]);
    expect(shown[0]).toStartWith(start);
  });

  const refused: readonly [Fields, string][] = [
    [
      { annotations: { [POOL]: "none" } },
      `NoAddressPool: ${POOL} names "none", which is no pool; the pools are main, ops, gold, rare`,
    ],
    [
      { annotations: { [POOL]: "mian" } },
      `NoAddressPool: ${POOL} names "mian", which is no pool (did you mean main?); the pools are main, ops, gold, rare`,
    ],
    [
      { namespace: "ops", annotations: { [IPS]: "198.51.100.15" } },
      `AddressNotAvailable: ${IPS} asks for 198.51.100.15, which is the last address of a CIDR of the pool ops, its ` +
        "broadcast address; only a range first-last includes it",
    ],
    [
      { annotations: { [POOL]: "ops" } },
      `NoAddressPool: ${POOL} names the pool ops, which is not for this Service`,
    ],
    [
      { annotations: { [POOL]: "rare" }, ipFamilies: ["IPv6"] },
      `NoAddressPool: ${POOL} names the pool rare, which has no IPv6 addresses`,
    ],
    [
      { annotations: { [POOL]: "rare", [SHARED]: "k" } },
      `NoAddressPool: ${POOL} names the pool rare, which is not shareable`,
    ],
    [
      { annotations: { [IPS]: "192.0.2.200" } },
      `AddressNotAvailable: ${IPS} asks for 192.0.2.200, which is in no address pool`,
    ],
    [
      { address: "198.51.100.3" },
      "AddressNotAvailable: spec.loadBalancerIP asks for 198.51.100.3, but its pool ops is not for this Service",
    ],
    [
      { annotations: { [IPS]: "203.0.113.20", [POOL]: "main" } },
      `AddressNotAvailable: ${IPS} asks for 203.0.113.20, which is in the pool rare, but ${POOL} asks for another one`,
    ],
    [
      { annotations: { [IPS]: "203.0.113.20", [SHARED]: "k" } },
      `AddressNotAvailable: ${IPS} asks for 203.0.113.20, but ${SHARED} needs a shareable pool, and rare is not`,
    ],
    [
      { annotations: { [IPS]: "192.0.2.11,2001:db8::7" } },
      `AddressWishInvalid: ${IPS} asks for 2001:db8::7, but the Service has no IPv6: see its ipFamilies`,
    ],
    [
      { annotations: { [IPS]: "192.0.2.11,192.0.2.12" } },
      `AddressWishInvalid: ${IPS} must be one IP address, or an IPv4 and an IPv6 address with a comma between them, ` +
        'but is "192.0.2.11,192.0.2.12"',
    ],
    [
      { annotations: { [SHARED]: "k" }, trafficPolicy: "Local" },
      `AddressWishInvalid: ${SHARED} needs a selector with externalTrafficPolicy: Local, or the policy Cluster`,
    ],
  ];
  test.each(refused)("%j waits", async (fields, message) => {
    expect(await settleNew(fields)).toEqual({ shown: [], said: [message] });
  });

  test("the network address of a subnet is no address of its pool", async () => {
    const { shown } = await settleNew({
      namespace: "ops",
      annotations: { [IPS]: "198.51.100.0" },
    });
    expect(shown).toEqual([]);
  });

  test("of two addresses gives both, in the order of the families", async () => {
    const { shown } = await settleNew({
      annotations: { [IPS]: "2001:DB8::0:7, 192.0.2.11" },
      ipFamilies: ["IPv4", "IPv6"],
      ipFamilyPolicy: "RequireDualStack",
    });
    expect(shown).toEqual(["192.0.2.11", "2001:db8::7"]);
  });
});

describe("a wish that changes", () => {
  test("for an address moves the Service, and frees the old one", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop", { address: "192.0.2.11" }));
    services.edit(spec, { address: "192.0.2.12" });
    await services.settle(spec);
    expect(services.shown(spec)).toEqual(["192.0.2.12"]);
    const other = services.put(toSpec("other", { address: "192.0.2.11" }));
    await services.settle(other);
    expect(services.shown(other)).toEqual(["192.0.2.11"]);
  });

  const key = (value: string): Fields => ({ annotations: { [SHARED]: value } });
  const taken: readonly [string, Fields, Fields, string, string?][] = [
    ["no key", {}, {}, `: to share it, give each of them the same ${SHARED}, or `],
    ["another key", key("a"), key("b"), `: to share it, give each of them the same ${SHARED}, or `],
    ["the same port", key("a"), key("a"), ", with the port TCP 80, too: "],
    ["a closed pool", {}, {}, ", and the pool rare is not shareable: ", "203.0.113.22"],
  ];
  test.each(taken)(
    "for an address that others have keeps what the Service has: %s",
    async (_what, others, fields, why, ip = "192.0.2.12") => {
      const services = new PooledServices(POOLS);
      await services.settle(services.put(toSpec("other", { ...others, address: ip })));
      const spec = services.put(toSpec("shop", { ...fields, address: "192.0.2.11" }));
      await services.settle(spec);
      services.edit(spec, { ...fields, address: ip });
      const { problems, ingress } = await services.settle(spec);
      expect(problems.map(({ message }) => message)).toEqual([
        `spec.loadBalancerIP asks for ${ip}, which Service web/other has${why}ask for another address`,
      ]);
      expect(ingress).toBeUndefined();
      expect(services.shown(spec)).toEqual(["192.0.2.11"]);
    },
  );

  test("for an address that two Services have names both", async () => {
    const services = new PooledServices(POOLS);
    const address = "192.0.2.12";
    const ports = toSpec("two").ports.map((one) => ({ ...one, port: 81 }));
    for (const one of [
      toSpec("one", { ...key("a"), address }),
      toSpec("two", { ...key("a"), address, ports }),
    ]) {
      await services.settle(services.put(one));
    }
    expect((await settleNew({ address }, services)).said).toEqual([
      `AddressNotAvailable: spec.loadBalancerIP asks for ${address}, which Services web/one and web/two have: to ` +
        `share it, give each of them the same ${SHARED}, or ask for another address`,
    ]);
  });

  test("for a pool moves the Service", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop"));
    services.edit(spec, { annotations: { [POOL]: "rare" } });
    await services.settle(spec);
    expect(services.shown(spec)[0]).toStartWith("203.0.113.2");
    services.edit(spec, { annotations: {} });
    await services.settle(spec);
    expect(services.shown(spec)[0]).toStartWith("203.0.113.2");
  });

  test("does not count when the range moved to another pool, and the wish is the same", async () => {
    const { services, spec } = await settleFirst(
      POOLS,
      toSpec("shop", { annotations: { [POOL]: "rare" } }),
    );
    const before = services.shown(spec);
    const settings = toSettings(
      { name: "rare", addresses: ["192.0.2.50"] },
      { name: "often", addresses: ["203.0.113.20-203.0.113.29"] },
    );
    for (const change of ["reconfigure", "restart"] as const) {
      if (change === "restart") services.restart(settings);
      else services.pools.reconfigure(settings);
      const { problems } = await services.settle(spec);
      expect(problems).toMatchObject([{ reason: "AddressOutsidePools", isWaiting: false }]);
      expect(services.shown(spec)).toEqual(before);
    }
  });

  test("into something that cannot be read changes nothing", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop"));
    const before = services.get(spec);
    services.edit(spec, { annotations: { [IPS]: "x" } });
    const { problems } = await services.settle(spec);
    expect(problems).toMatchObject([{ reason: "AddressWishInvalid" }]);
    expect(services.get(spec)).toMatchObject({ ingress: before.ingress, record: before.record });
  });
});

describe("a conflict", () => {
  const AT = toVip("192.0.2.15");

  test("of two Services that show the same address is said to both, and both keep it", async () => {
    const services = new PooledServices(POOLS);
    const [one, other] = [
      services.put(toSpec("one", { ingress: [AT] })),
      services.put(toSpec("other", { ingress: [AT] })),
    ];
    for (const [spec, rival] of [
      [one, "Service web/other"],
      [other, "Service web/one"],
      [one, "Service web/other"],
    ] as const) {
      const { problems } = await services.settle(spec);
      expect(problems.map(({ message, isWaiting }) => [message, isWaiting])).toEqual([
        [
          `192.0.2.15 is also the address of ${rival}; both keep it until one of them is deleted or asks for another ` +
            "address",
          false,
        ],
      ]);
      expect(services.shown(spec)).toEqual(["192.0.2.15"]);
    }
    services.delete(other);
    expect((await services.settle(one)).problems).toEqual([]);
  });

  test("by a status that was written by hand ends with what Landfall gave", async () => {
    const services = new PooledServices(POOLS);
    const [one, other] = [services.put(toSpec("one")), services.put(toSpec("other"))];
    await services.settle(one);
    await services.settle(other);
    const [before] = services.shown(one);
    services.edit(one, { ingress: services.get(other).ingress });
    services.restart(POOLS);
    expect((await services.settle(one)).problems).toEqual([]);
    expect(services.shown(one)).toEqual([before ?? ""]);
  });

  test("of records gives way to the status", async () => {
    const services = new PooledServices(POOLS);
    const other = services.put(toSpec("other", { address: "192.0.2.15" }));
    await services.settle(other);
    const copied = services.get(other).record;
    if (copied === undefined) throw new Error("no record");
    services.restart(POOLS);
    const copy = services.put(toSpec("a-copy", { record: copied }));
    await services.settle(copy);
    expect(services.shown(copy)).toHaveLength(1);
    expect(services.shown(copy)).not.toEqual(["192.0.2.15"]);
    expect((await services.settle(other)).problems).toEqual([]);
  });

  test("of two records without status goes by the name", async () => {
    const record = '{"v":1,"addresses":["192.0.2.15"]}';
    for (const order of [
      ["a", "b"],
      ["b", "a"],
    ]) {
      const services = new PooledServices(POOLS);
      for (const name of ["b", "a"]) services.put(toSpec(name, { record }));
      for (const name of order) await services.settle(toSpec(name));
      expect(services.shown(toSpec("a"))).toEqual(["192.0.2.15"]);
      expect(services.shown(toSpec("b"))).not.toEqual(["192.0.2.15"]);
      expect(services.shown(toSpec("b"))).toHaveLength(1);
    }
  });

  test("with a reservation is lost by a record that was forged meanwhile", async () => {
    const services = new PooledServices(POOLS);
    const spec = services.put(toSpec("shop", { address: "192.0.2.15" }));
    for (const step of (await services.plan(spec)).steps) await services.apply(step);
    const record = '{"v":1,"addresses":["192.0.2.15"]}';
    const thief = services.put(toSpec("a-thief", { record }));
    await services.settle(thief);
    await services.settle(spec);
    expect(services.shown(spec)).toEqual(["192.0.2.15"]);
    expect(services.shown(thief)).not.toEqual(["192.0.2.15"]);
  });
});

describe("a record", () => {
  const forged: readonly [string, string][] = [
    ["of an address outside the pools", '{"v":1,"addresses":["192.0.2.99"]}'],
    ["of a pool for others", '{"v":1,"addresses":["198.51.100.3"]}'],
    ["of a pool that must be asked for", '{"v":1,"addresses":["203.0.113.20"]}'],
    ["of another version", '{"v":2,"addresses":["203.0.113.20"]}'],
    ["that is not JSON", "{"],
    ["that is too long", `{"v":1,"addresses":["192.0.2.11"],"x":"${"x".repeat(1024)}"}`],
  ];
  test.each(forged)("%s gives nothing that the Service would not get", async (_title, record) => {
    const services = new PooledServices(POOLS);
    const { shown, said } = await settleNew({ record }, services);
    expect(said).toEqual([]);
    expect(shown[0]).toStartWith("192.0.2.1");
    expect(await settleNew({}, new PooledServices(POOLS))).toEqual({ shown, said });
  });

  test("that is written by hand while Landfall runs changes nothing", async () => {
    const { services, spec } = await settleFirst(
      POOLS,
      toSpec("shop", { annotations: { [POOL]: "main" } }),
    );
    const before = services.get(spec);
    services.edit(spec, { record: '{"v":1,"addresses":["192.0.2.19"],"pool":"main"}' });
    await services.settle(spec);
    expect(services.get(spec)).toEqual(before);
  });

  test("that ends a conflict frees what was reserved before", async () => {
    const services = new PooledServices(POOLS);
    const owner = services.put(toSpec("owner", { ingress: [toVip("192.0.2.15")] }));
    const spec = services.put(toSpec("shop", { ingress: [toVip("192.0.2.15")] }));
    await services.settle(spec);
    services.edit(spec, { record: '{"v":1,"addresses":["192.0.2.16"]}' });
    await services.settle(spec);
    expect(services.shown(spec)).toEqual(["192.0.2.16"]);
    services.delete(owner);
    const { shown } = await settleNew({ namespace: "bank", address: "192.0.2.15" }, services);
    expect(shown).toEqual(["192.0.2.15"]);
  });

  test("of a pool for others does not keep the address from them", async () => {
    const services = new PooledServices(
      toSettings({ name: "ops", addresses: ["198.51.100.3"], namespaces: ["ops"] }),
    );
    services.put(toSpec("forger", { record: '{"v":1,"addresses":["198.51.100.3"]}' }));
    const { shown } = await settleNew({ namespace: "ops" }, services);
    expect(shown).toEqual(["198.51.100.3"]);
  });

  test("that no look showed yet is reserved before the status shows its address", async () => {
    const services = new PooledServices(POOLS);
    const view = await services.pools.observe({ claims: () => [], maxAgeMs: 0 });
    const record = '{"v":1,"addresses":["192.0.2.15"]}';
    const spec = services.put(toSpec("shop", { record }));
    const { steps, ingress } = services.pools.plan(view, spec);
    expect(ingress).toBeUndefined();
    expect(steps).toMatchObject([{ addresses: ["192.0.2.15"] }]);
    for (const step of steps) await services.apply(step);
    const other = services.put(toSpec("other", { address: "192.0.2.15" }));
    expect(services.pools.plan(view, other).problems).toMatchObject([
      { reason: "AddressNotAvailable" },
    ]);
    expect(services.pools.plan(view, spec)).toMatchObject({
      steps: [],
      ingress: [toVip("192.0.2.15")],
    });
  });

  test("of an old manifest does not move a Service, also after a restart", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop"));
    const before = services.get(spec);
    services.edit(spec, { record: '{"v":1,"addresses":["192.0.2.19"]}' });
    services.restart(POOLS);
    await services.settle(spec);
    expect(services.get(spec)).toEqual(before);
  });

  test("that was deleted is written again, with the same address", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop"));
    const { record: before, ...rest } = services.get(spec);
    services.put(rest);
    services.restart(POOLS);
    await services.settle(spec);
    expect(services.get(spec)).toEqual({
      ...rest,
      ...(before !== undefined && { record: before }),
    });
  });

  test("brings back a status that was emptied by hand", async () => {
    const { services, spec } = await settleFirst(POOLS, toSpec("shop"));
    const before = services.shown(spec);
    services.edit(spec, { ingress: [] });
    services.restart(POOLS);
    await services.settle(spec);
    expect(services.shown(spec)).toEqual(before);
  });
});

describe("a shared address", () => {
  const share = (name: string, port: number, fields: Fields = {}): LoadBalancerSpec =>
    toSpec(name, {
      annotations: { [SHARED]: "web" },
      ports: [{ protocol: "TCP", port }],
      ...fields,
    });

  test("is had by Services with one key whose ports differ", async () => {
    const services = new PooledServices(POOLS);
    const specs = [
      services.put(share("one", 80)),
      services.put(share("two", 443)),
      services.put(share("dns", 80, { ports: [{ protocol: "UDP", port: 80 }] })),
    ];
    for (const spec of specs) expect((await services.settle(spec)).problems).toEqual([]);
    expect(new Set(specs.flatMap((one) => services.shown(one))).size).toBe(1);
  });

  const apart: readonly [string, Fields][] = [
    ["with the same port", { ports: [{ protocol: "TCP", port: 80 }] }],
    ["with another key", { annotations: { [SHARED]: "other" } }],
    ["without a key", { annotations: {} }],
    ["in another namespace", { namespace: "bank" }],
  ];
  test.each(apart)("is not had by a Service %s", async (_title, fields) => {
    const services = new PooledServices(POOLS);
    const one = services.put(share("one", 80));
    await services.settle(one);
    const other = services.put(share("other", 443, fields));
    expect((await services.settle(other)).problems).toEqual([]);
    expect(services.shown(other)).toHaveLength(1);
    expect(services.shown(other)).not.toEqual(services.shown(one));
  });

  test("can be asked for by name only with the key", async () => {
    const services = new PooledServices(POOLS);
    const one = services.put(share("one", 80));
    await services.settle(one);
    const address = services.shown(one)[0] ?? "";
    const stranger = services.put(toSpec("stranger", { address }));
    expect((await services.settle(stranger)).problems).toMatchObject([
      { reason: "AddressNotAvailable" },
    ]);
    const partner = services.put(share("partner", 443, { address }));
    await services.settle(partner);
    expect(services.shown(partner)).toEqual([address]);
  });

  test("stays when ports collide later, and both hear of it", async () => {
    const services = new PooledServices(POOLS);
    const [one, two] = [services.put(share("one", 80)), services.put(share("two", 443))];
    await services.settle(one);
    await services.settle(two);
    const before = services.shown(one);
    services.edit(two, { ports: [{ protocol: "TCP", port: 80 }] });
    for (const spec of [one, two]) {
      expect((await services.settle(spec)).problems).toMatchObject([
        { reason: "AddressConflict", isWaiting: false },
      ]);
      expect(services.shown(spec)).toEqual(before);
    }
  });

  test("is not had by a Service that leaves a shareable pool no choice", async () => {
    const { said } = await settleNew(
      { annotations: { [SHARED]: "web" } },
      new PooledServices(toSettings({ name: "a", addresses: ["192.0.2.10"] })),
    );
    expect(said).toEqual([
      "NoAddressPool: no shareable address pool gives IPv4 addresses to this Service without being asked",
    ]);
  });

  test("of a pool that shrinks is kept, and no conflict", async () => {
    const services = new PooledServices(POOLS);
    const specs = [services.put(share("one", 80)), services.put(share("two", 443))];
    for (const spec of specs) await services.settle(spec);
    const before = specs.map((spec) => services.shown(spec));
    services.pools.reconfigure(toSettings({ name: "other", addresses: ["203.0.113.1"] }));
    for (const spec of specs) {
      const { problems } = await services.settle(spec);
      expect(problems.map(({ reason }) => reason)).toEqual(["AddressOutsidePools"]);
    }
    expect(specs.map((spec) => services.shown(spec))).toEqual(before);
  });

  test("of a pool that is not shareable any more is no matter for a Service that shares with none", async () => {
    const { services, spec } = await settleFirst(POOLS, share("one", 80));
    services.pools.reconfigure(toSettings({ name: "main", addresses: ["192.0.2.10-192.0.2.19"] }));
    expect((await services.settle(spec)).problems).toEqual([]);
  });

  test("of a pool that is not shareable any more is kept, and the Services hear of it", async () => {
    const services = new PooledServices(POOLS);
    const specs = [services.put(share("one", 80)), services.put(share("two", 443))];
    for (const spec of specs) await services.settle(spec);
    const before = specs.map((spec) => services.shown(spec));
    services.pools.reconfigure(toSettings({ name: "main", addresses: ["192.0.2.10-192.0.2.19"] }));
    for (const spec of specs) {
      expect((await services.settle(spec)).problems).toMatchObject([
        { reason: "AddressConflict", isWaiting: false },
        { reason: "AddressNotAvailable", isWaiting: false },
      ]);
    }
    expect(specs.map((spec) => services.shown(spec))).toEqual(before);
  });
});
