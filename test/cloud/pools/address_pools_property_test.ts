/**
 * What no history of Services, settings, restarts and hand edits may bring the address pools to do, against rules in
 * the plainest form.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LoadBalancerSpec } from "../../../lib/cloud/capabilities/load_balancers.ts";
import type { LoadBalancerSettings } from "../../../lib/cloud/pools/settings.ts";
import { PooledServices, toSettings, toSpec } from "../../support/pools/services.ts";
import { tries } from "../../support/extent.ts";

const POOL = "landfall.dev/address-pool";
const IPS = "landfall.dev/load-balancer-ips";
const SHARED = "landfall.dev/shared-address";

const SETTINGS: readonly LoadBalancerSettings[] = [
  toSettings(
    { name: "a", addresses: ["192.0.2.10-192.0.2.11", "2001:db8::11"] },
    { name: "b", addresses: ["192.0.2.20"], shareable: true },
  ),
  toSettings({ name: "b", addresses: ["192.0.2.11-192.0.2.20"], shareable: true }),
  toSettings(
    { name: "a", addresses: ["192.0.2.10"], namespaces: ["bank"] },
    { name: "b", addresses: ["192.0.2.20", "2001:db8::11"], autoAssign: false },
  ),
];
const FREE_IN_FIRST = 3;

const NAMES = ["s0", "s1", "s2", "s3", "s4"] as const;
const ADDRESSES = ["192.0.2.10", "192.0.2.11", "192.0.2.20", "2001:db8::11"] as const;

const which = fc.nat(NAMES.length - 1);

const annotations = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.constant({ [SHARED]: "k" }) },
  { weight: 1, arbitrary: fc.constant({ [SHARED]: "other" }) },
  { weight: 2, arbitrary: fc.constantFrom(...ADDRESSES).map((one) => ({ [IPS]: one })) },
  { weight: 1, arbitrary: fc.constantFrom("a", "b").map((one) => ({ [POOL]: one })) },
  { weight: 1, arbitrary: fc.constant({ [IPS]: "192.0.2.20", [SHARED]: "k" }) },
);

const wish = fc.record({
  annotations,
  namespace: fc.constantFrom("web", "bank"),
  port: fc.constantFrom(80, 443),
  families: fc.constantFrom<Pick<LoadBalancerSpec, "ipFamilies" | "ipFamilyPolicy">>(
    { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
    { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
  ),
});

const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("settle" as const), at: which }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put" as const), at: which, wish }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), at: which }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("together" as const), at: which, other: which }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("writeFails" as const), at: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), at: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("settings" as const),
      index: fc.nat(SETTINGS.length - 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("handEdit" as const),
      at: which,
      address: fc.constantFrom(...ADDRESSES),
      field: fc.constantFrom("status" as const, "record" as const),
    }),
  },
);

type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

/** The Services, and what is remembered about them to judge what happens. */
class History {
  readonly services: PooledServices;
  #settings: LoadBalancerSettings;
  /** What each Service last came to rest with, if its wishes are the same since. */
  readonly #given = new Map<string, readonly string[]>();

  constructor(settings: LoadBalancerSettings) {
    this.#settings = settings;
    this.services = new PooledServices(settings);
  }

  async run(one: Event): Promise<void> {
    const { services } = this;
    switch (one.kind) {
      case "put":
        this.#put(one);
        break;
      case "delete":
        this.#delete(one.at);
        this.#given.delete(NAMES[one.at] ?? "");
        break;
      case "restart":
        services.restart(this.#settings);
        break;
      case "settings":
        this.#settings = SETTINGS[one.index] ?? this.#settings;
        services.pools.reconfigure(this.#settings);
        break;
      case "handEdit":
        this.#edit(one);
        break;
      default:
        await this.#work(one);
    }
  }

  async #work(
    one: Extract<Event, { kind: "crash" | "writeFails" | "settle" | "together" }>,
  ): Promise<void> {
    const { services } = this;
    const spec = this.#find(one.at);
    if (spec === undefined) return;
    if (one.kind === "settle") await this.settle(spec);
    if (one.kind === "together") {
      const other = this.#find(one.other) ?? spec;
      const steps = [await services.plan(spec), await services.plan(other)].flatMap(
        (plan) => plan.steps,
      );
      await Promise.all(steps.map((step) => services.apply(step)));
      await this.settle(spec);
      await this.settle(other);
    }
    if (one.kind === "writeFails" || one.kind === "crash") {
      for (const step of (await services.plan(spec)).steps) await services.apply(step);
      if (one.kind === "crash") services.restart(this.#settings);
    }
  }

  /** Brings a Service to rest, and judges what changed. */
  async settle(spec: LoadBalancerSpec): Promise<void> {
    const { services } = this;
    const before = services.shown(spec);
    const given = this.#given.get(spec.owner.name) ?? [];
    const { ingress } = await services.settle(spec);
    const after = services.shown(spec);
    for (const address of after) if (!before.includes(address)) this.#judgeNew(spec, address);
    for (const address of before) {
      // A status that somebody wrote by hand may be put right; what Landfall gave must stay.
      if (given.includes(address)) expect(after).toContain(address);
    }
    if (ingress !== undefined) this.#given.set(spec.owner.name, after);
    expect((await services.plan(spec)).steps).toEqual([]);
  }

  /** A new address is in a pool for the Service, and no other Service that it does not share with shows it. */
  #judgeNew(spec: LoadBalancerSpec, address: string): void {
    const { annotations, owner } = spec;
    const pool = this.#settings.pools.find(({ name }) => {
      const family = address.includes(":") ? 6 : 4;
      const bits = toBits(address);
      const { ranges } = this.#settings.pools.find((one) => one.name === name) ?? { ranges: [] };
      return ranges.some((one) => one.family === family && one.first <= bits && bits <= one.last);
    });
    expect(pool).toBeDefined();
    expect(pool?.namespaces ?? [owner.namespace]).toContain(owner.namespace);
    if (annotations[POOL] !== undefined) expect(pool?.name).toBe(annotations[POOL]);
    const others = this.services
      .all()
      .filter((one) => one.owner.uid !== owner.uid && this.services.shown(one).includes(address));
    for (const other of others) {
      expect(pool?.isShareable).toBe(true);
      expect(annotations[SHARED]).toBeDefined();
      expect(other.owner.namespace).toBe(owner.namespace);
      expect(other.annotations[SHARED]).toBe(annotations[SHARED]);
      expect(other.ports[0]?.port).not.toBe(spec.ports[0]?.port);
    }
  }

  #put({ at, wish: { port, families, ...wishes } }: Extract<Event, { kind: "put" }>): void {
    const fields = { ...wishes, ports: [{ protocol: "TCP" as const, port }], ...families };
    const name = NAMES[at] ?? "";
    const old = this.#find(at);
    this.services.put(old === undefined ? toSpec(name, fields) : { ...old, ...fields });
    this.#given.delete(name);
  }

  #edit({ at, address, field }: Extract<Event, { kind: "handEdit" }>): void {
    const spec = this.#find(at);
    if (spec === undefined) return;
    const record = `{"v":1,"addresses":["${address}"]}`;
    this.services.edit(spec, field === "record" ? { record } : { ingress: [{ ip: address }] });
    this.#given.delete(spec.owner.name);
  }

  #delete(at: number): void {
    const spec = this.#find(at);
    if (spec !== undefined) this.services.delete(spec);
  }

  #find(at: number): LoadBalancerSpec | undefined {
    return this.services.all().find(({ owner }) => owner.name === NAMES[at]);
  }
}

function toBits(address: string): bigint {
  if (!address.includes(":")) {
    return BigInt(address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0));
  }
  return 0x2001_0db8n * 2n ** 96n + BigInt(`0x${address.split("::")[1] ?? "0"}`);
}

test("no history gives an address twice, gives one outside the pools, takes one away, or leaks one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 20, maxLength: 100, size: "max" }),
      async (events) => {
        const first = SETTINGS[0] ?? toSettings();
        const history = new History(first);
        const { services } = history;
        for (const one of events) await history.run(one);
        // In the end everything is free again.
        for (const one of services.all()) services.delete(one);
        services.pools.reconfigure(first);
        const fleet = Array.from({ length: FREE_IN_FIRST }, (_, at) =>
          services.put(toSpec(`new-${at}`)),
        );
        for (const one of fleet) await services.settle(one);
        const shown = fleet.flatMap((one) => services.shown(one));
        expect(new Set(shown).size).toBe(FREE_IN_FIRST);
      },
    ),
    tries(150),
  );
});
