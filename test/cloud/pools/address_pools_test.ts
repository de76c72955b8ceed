import { describe, expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../lib/cloud/capabilities/load_balancers.ts";
import { measureCpuMs } from "../../support/net/hostile.ts";
import { PooledServices, settleFirst, toSettings, toSpec } from "../../support/pools/services.ts";
import { longTest } from "../../support/long_tests.ts";

const SMALL = toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.12"] });
const BOTH = toSettings({ name: "a", addresses: ["192.0.2.0/28", "2001:db8::/64"] });
const DUAL: Partial<LoadBalancerSpec> = {
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: "RequireDualStack",
};

async function settleAll(services: PooledServices): Promise<void> {
  for (const one of services.all()) await services.settle(one);
}

describe("AddressPools", () => {
  test("gives a Service an address with mode VIP, with a record, and then changes nothing", async () => {
    const services = new PooledServices(SMALL);
    const spec = services.put(toSpec("shop"));
    const first = await services.plan(spec);
    expect(first.ingress).toBeUndefined();
    expect(first.steps).toHaveLength(1);
    const plan = await services.settle(spec);
    const [address = ""] = services.shown(spec);
    expect(["192.0.2.10", "192.0.2.11", "192.0.2.12"]).toContain(address);
    expect(plan).toEqual({
      steps: [],
      problems: [],
      ingress: [{ ip: address, ipMode: "VIP" }],
      record: `{"v":1,"addresses":["${address}"]}`,
      parts: [
        { kind: "address", name: "IPv4", wanted: address },
        { kind: "pool", name: "IPv4", wanted: "a" },
      ],
    });
    expect(services.get(spec).record).toBe(`{"v":1,"addresses":["${address}"]}`);
    expect(await services.settle(spec)).toMatchObject({ steps: [], problems: [] });
    expect(services.writes).toBe(1);
  });

  test("gives every Service another address until all are in use, and says so then", async () => {
    const services = new PooledServices(SMALL);
    for (const name of ["a", "b", "c"]) services.put(toSpec(name));
    await settleAll(services);
    const shown = services.all().flatMap((one) => services.shown(one));
    expect(shown.toSorted()).toEqual(["192.0.2.10", "192.0.2.11", "192.0.2.12"]);
    const late = services.put(toSpec("d"));
    const { problems, ingress, steps } = await services.settle(late);
    expect({ problems, ingress, steps }).toEqual({
      problems: [
        {
          reason: "AddressPoolExhausted",
          message:
            "every IPv4 address of the pool a is in use; add addresses to loadBalancers.pools, or delete Services " +
            "that are not needed",
        },
      ],
      ingress: undefined,
      steps: [],
    });
    services.delete(toSpec("b"));
    await services.settle(late);
    expect(services.shown(late)).toHaveLength(1);
  });

  test("gives the same addresses in a cluster that was restored without records and status", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `shop-${at}`);
    const pools = toSettings({ name: "a", addresses: ["10.0.0.0/12", "2001:db8::/64"] });
    const run = async (order: readonly string[]): Promise<string[]> => {
      const services = new PooledServices(pools);
      for (const name of order) services.put(toSpec(name, DUAL));
      await settleAll(services);
      return names.flatMap((name) => services.shown(toSpec(name)));
    };
    const before = await run(names);
    expect(await run(names.toReversed())).toEqual(before);
    // The order is a promise to clusters that exist: it must not change with a version.
    expect(before.slice(0, 2)).toEqual(["10.0.61.133", "2001:db8::89f0:2e8e:1e8b:8e6d"]);
  });

  test("keeps every address over a restart, also if a record is lost", async () => {
    const services = new PooledServices(SMALL);
    const specs = ["a", "b", "c"].map((name) => services.put(toSpec(name)));
    await settleAll(services);
    const before = specs.map((one) => services.shown(one));
    const { record: _lost, ...rest } = services.get(toSpec("b"));
    services.put(rest);
    services.restart(SMALL);
    await settleAll(services);
    expect(specs.map((one) => services.shown(one))).toEqual(before);
    expect(services.writes).toBe(4);
  });

  test("never gives one address to two Services that were planned at the same time", async () => {
    const services = new PooledServices(toSettings({ name: "a", addresses: ["192.0.2.10"] }));
    const [one, other] = [services.put(toSpec("one")), services.put(toSpec("other"))];
    const plans = [await services.plan(one), await services.plan(other)];
    const steps = plans.flatMap(({ steps }) => steps);
    expect(steps.map(({ addresses }) => addresses)).toEqual([["192.0.2.10"], ["192.0.2.10"]]);
    await Promise.all(steps.map((step) => services.apply(step)));
    await settleAll(services);
    expect(services.shown(one)).toEqual(["192.0.2.10"]);
    expect(services.shown(other)).toEqual([]);
  });

  test("holds a reservation until the status shows it, and as long as the Service is there", async () => {
    const services = new PooledServices(toSettings({ name: "a", addresses: ["192.0.2.10"] }));
    const [one, other] = [services.put(toSpec("one")), services.put(toSpec("other"))];
    for (const step of (await services.plan(one)).steps) await services.apply(step);
    const { problems } = await services.settle(other);
    expect(problems).toMatchObject([{ reason: "AddressPoolExhausted" }]);
    services.delete(one);
    await services.settle(other);
    expect(services.shown(other)).toEqual(["192.0.2.10"]);
  });

  test("looks again after five seconds, and at once when asked", async () => {
    const services = new PooledServices(SMALL);
    let looks = 0;
    const claims = (): Iterable<LoadBalancerSpec> => {
      looks += 1;
      return services.all();
    };
    await services.pools.observe({ claims, maxAgeMs: 60_000 });
    await services.pools.observe({ claims, maxAgeMs: 60_000 });
    expect(looks).toBe(1);
    await services.pools.observe({ claims, maxAgeMs: 0 });
    expect(looks).toBe(2);
    await services.clock.advance(5_000);
    await services.pools.observe({ claims, maxAgeMs: 60_000 });
    expect(looks).toBe(3);
  });

  test("frees everything of a Service that is released, and asks nobody for it", async () => {
    const { services, spec } = await settleFirst(SMALL, toSpec("shop"));
    const view = await services.pools.observe({ claims: () => services.all(), maxAgeMs: 0 });
    const [address = ""] = services.shown(spec);
    const plan = services.pools.planRelease(view, services.get(spec));
    expect(plan).toEqual({
      steps: [],
      problems: [],
      ingress: [],
      parts: [
        { kind: "address", name: "IPv4", actual: address },
        { kind: "pool", name: "IPv4", actual: "a" },
      ],
    });
  });
});

describe("AddressPools with two families", () => {
  test("gives an address of each, in the order of the Service", async () => {
    const { services, spec } = await settleFirst(
      BOTH,
      toSpec("shop", { ...DUAL, ipFamilies: ["IPv6", "IPv4"] }),
    );
    const [first = "", second = ""] = services.shown(spec);
    expect(first).toStartWith("2001:db8::");
    expect(second).toStartWith("192.0.2.");
    services.edit(spec, { ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" });
    await services.settle(spec);
    expect(services.shown(spec)).toEqual([first]);
    expect(services.get(spec).record).toBe(`{"v":1,"addresses":["${first}"]}`);
  });

  test("SingleStack takes the first family only", async () => {
    const { services, spec } = await settleFirst(
      BOTH,
      toSpec("shop", { ipFamilies: ["IPv4", "IPv6"] }),
    );
    expect(services.shown(spec)).toHaveLength(1);
  });

  const cases: readonly [LoadBalancerSpec["ipFamilyPolicy"], number, readonly string[]][] = [
    ["PreferDualStack", 1, []],
    ["RequireDualStack", 0, ["NoAddressPool"]],
  ];
  test.each(cases)(
    "%s without a pool of the second family: %i address",
    async (policy, count, said) => {
      const services = new PooledServices(SMALL);
      const spec = services.put(toSpec("shop", { ...DUAL, ipFamilyPolicy: policy }));
      const { problems } = await services.settle(spec);
      expect(services.shown(spec)).toHaveLength(count);
      expect(problems.map(({ reason }) => reason)).toEqual([...said]);
    },
  );

  test("PreferDualStack says that the second family is used up, and takes it later", async () => {
    const services = new PooledServices(
      toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.12", "2001:db8::1"] }),
    );
    const [one, other] = ["one", "other"].map((name) =>
      services.put(toSpec(name, { ...DUAL, ipFamilyPolicy: "PreferDualStack" })),
    );
    if (one === undefined || other === undefined) throw new Error("no Services");
    await services.settle(one);
    const { problems } = await services.settle(other);
    expect(problems).toMatchObject([{ reason: "AddressPoolExhausted", isWaiting: false }]);
    expect(services.shown(other)).toHaveLength(1);
    const [kept] = services.shown(other);
    services.delete(one);
    expect(await services.settle(other)).toMatchObject({ problems: [] });
    expect(services.shown(other)).toEqual([kept ?? "", "2001:db8::1"]);
  });

  test("RequireDualStack reserves nothing if one family has no address", async () => {
    const services = new PooledServices(SMALL);
    await services.settle(services.put(toSpec("dual", DUAL)));
    for (const name of ["a", "b", "c"]) await services.settle(services.put(toSpec(name)));
    expect(services.all().flatMap((one) => services.shown(one))).toHaveLength(3);
  });
});

describe("AddressPools.reconfigure()", () => {
  const wide = toSettings({ name: "a", addresses: ["192.0.2.0/28"] });
  const gone: readonly [string, ReturnType<typeof toSettings>, string][] = [
    ["shrinks", toSettings({ name: "a", addresses: ["198.51.100.7"] }), "is in no address pool"],
    ["goes", toSettings(), "is in no address pool"],
    [
      "is for others now",
      toSettings({ name: "a", addresses: ["192.0.2.0/28"], namespaces: ["ops"] }),
      "is in the pool a, which is not for this Service",
    ],
    [
      "is for other labels now",
      toSettings({ name: "a", addresses: ["192.0.2.0/28"], selector: { tier: "gold" } }),
      "is in the pool a, which is not for this Service",
    ],
  ];
  test.each(gone)("takes no address away when a pool %s", async (_title, settings, why) => {
    const { services, spec } = await settleFirst(wide, toSpec("shop"));
    const before = services.shown(spec);
    services.pools.reconfigure(settings);
    const { problems } = await services.settle(spec);
    expect(services.shown(spec)).toEqual(before);
    const advice = "it keeps the address until it asks for another one or is deleted";
    expect(problems).toEqual([
      {
        reason: "AddressOutsidePools",
        message: `${before[0] ?? ""} ${why}; ${advice}`,
        isWaiting: false,
      },
    ]);
    services.restart(settings);
    await services.settle(spec);
    expect(services.shown(spec)).toEqual(before);
  });

  test("uses the new pools at once", async () => {
    const services = new PooledServices(toSettings());
    const spec = services.put(toSpec("shop"));
    expect((await services.settle(spec)).problems).toMatchObject([{ reason: "NoAddressPool" }]);
    services.pools.reconfigure(SMALL);
    await services.settle(spec);
    expect(services.shown(spec)).toHaveLength(1);
  });

  test("counts anew what is in use", async () => {
    const services = new PooledServices(toSettings({ name: "a", addresses: ["192.0.2.10"] }));
    await services.settle(services.put(toSpec("one")));
    services.pools.reconfigure(toSettings({ name: "b", addresses: ["192.0.2.10-192.0.2.11"] }));
    const other = services.put(toSpec("other"));
    await services.settle(other);
    expect(services.shown(other)).toEqual(["192.0.2.11"]);
    expect((await services.settle(services.put(toSpec("third")))).problems).toMatchObject([
      { reason: "AddressPoolExhausted" },
    ]);
  });
});

describe("AddressPools for kube-vip", () => {
  const settings = { ...BOTH, announce: "kubeVip" as const };
  const KEY = "kube-vip.io/loadbalancerIPs";

  test("writes the addresses where kube-vip reads them, and removes them with the rest", async () => {
    const services = new PooledServices(settings);
    const spec = services.put(toSpec("shop", DUAL));
    const plan = await services.settle(spec);
    expect(plan.annotations).toEqual({ [KEY]: services.shown(spec).join(",") });
    const view = await services.pools.observe({ claims: () => services.all(), maxAgeMs: 0 });
    expect(services.pools.planRelease(view, services.get(spec)).annotations).toEqual({
      [KEY]: undefined,
    });
  });

  test("keeps the address that a Service named for kube-vip before Landfall", async () => {
    const { services, spec } = await settleFirst(
      settings,
      toSpec("shop", { annotations: { [KEY]: "192.0.2.9" } }),
    );
    expect(services.shown(spec)).toEqual(["192.0.2.9"]);
  });

  test("puts right what others write there later", async () => {
    const { services, spec } = await settleFirst(settings, toSpec("shop"));
    const before = services.shown(spec);
    services.edit(spec, { annotations: { [KEY]: "192.0.2.9" } });
    const plan = await services.settle(spec);
    expect(plan.annotations).toEqual({ [KEY]: before.join(",") });
  });

  test("leaves that annotation alone without the setting", async () => {
    const services = new PooledServices(BOTH);
    const spec = services.put(toSpec("shop", { annotations: { [KEY]: "198.51.100.1" } }));
    expect((await services.settle(spec)).annotations).toBeUndefined();
    expect(services.shown(spec)[0]).toStartWith("192.0.2.");
  });
});

const FLEETS: readonly [string, string, LoadBalancerSpec["ipFamilies"]][] = [
  ["a huge pool", "10.0.0.0/12", ["IPv4"]],
  ["a pool that is full then", "10.0.0.1-10.0.19.136", ["IPv4"]],
  ["a huge pool of IPv6", "2001:db8::/32", ["IPv6"]],
];

longTest.each(FLEETS)(
  "5,000 Services get their addresses in a moment, from %s",
  async (_title, addresses, ipFamilies) => {
    const services = new PooledServices(toSettings({ name: "a", addresses: [addresses] }));
    for (let at = 0; at < 5_000; at += 1) services.put(toSpec(`s${at}`, { ipFamilies }));
    const view = await services.pools.observe({ claims: () => services.all(), maxAgeMs: 0 });
    const given = new Set<string | undefined>();
    const cpuMs = await measureCpuMs(async () => {
      for (const one of services.all()) {
        for (const step of services.pools.plan(view, one).steps) await services.apply(step);
        given.add(services.pools.plan(view, one).record);
      }
    });
    expect(cpuMs).toBeLessThan(5_000);
    expect(given.size).toBe(5_000);
  },
);
