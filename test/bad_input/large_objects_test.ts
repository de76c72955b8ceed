/**
 * One tenant writes more than the process has memory for: everybody else is served, and the tenant is named.
 * @module
 */
import { afterEach, expect, test } from "bun:test";
import { BUDGET } from "../../lib/core/budget.ts";
import { createLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import type { WatchEvent } from "../../lib/kube/api/client.ts";
import { Caches } from "../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../lib/kube/cache/store.ts";
import { createWatcherMetrics } from "../../lib/kube/cache/watcher.ts";
import { type Kind, trimObject } from "../../lib/kube/kinds/resource.ts";
import { type Service, SERVICES } from "../../lib/kube/kinds/service.ts";
import { CONFIG_MAPS } from "../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { toHostFacts } from "../../lib/controllers/sipcluster/hosts/facts.ts";
import { BARE_METAL_HOSTS } from "../../lib/kube/kinds/bare_metal_host.ts";
import { startWidgets, toWidget } from "../support/kube/widgets.ts";
import { ScriptedKubeClient, type ScriptStep } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { longTest } from "../support/long_tests.ts";

const LARGE = 1024 * 1024;
/** Twice what has a place. */
const MANY = Math.ceil(BUDGET.view / LARGE);
const LONG = "x".repeat(LARGE);

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function toService(key: string, text: string): Service {
  const [namespace = "", name = ""] = key.split("/");
  const annotations = { "landfall.dev/address-pool": "main", "landfall.dev/more": text };
  const metadata = { name, namespace, uid: key, resourceVersion: "5", labels: { a: "b" } };
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  return { metadata: { ...metadata, annotations }, spec: { type: "LoadBalancer" }, status };
}

const EVIL = Array.from({ length: MANY }, (_one, at) => toService(`evil/s${at}`, LONG));
const GOOD = [toService("good/large", LONG), toService("good/small", "a")];

function toPage(items: readonly Service[], resourceVersion = "9"): ScriptStep {
  return { page: { items: structuredClone(items), resourceVersion } };
}

function toEvent(type: string, { metadata, ...service }: Service): WatchEvent {
  const { apiVersion, kind } = SERVICES;
  const object = { apiVersion, kind, ...service, metadata: { ...metadata, resourceVersion: "10" } };
  return { type, object };
}

function setUp(script: readonly ScriptStep[], kind: Kind<Service> = SERVICES) {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock, script);
  const [log, events]: [string[], string[]] = [[], []];
  const registry = new MetricsRegistry();
  const caches = new Caches({
    client,
    clock,
    log: createLogger({ format: "text", write: (line) => log.push(line), now: () => 0 }),
    metrics: createWatcherMetrics(registry),
    events: {
      record: ({ metadata }, { reason, message }) =>
        events.push(`${metadata.namespace}/${metadata.name} ${reason}: ${message}`),
    },
    random: () => 0,
  });
  const services = caches.reader(kind);
  const stop = new AbortController();
  const running = caches.run(stop.signal);
  stops.push(() => {
    stop.abort(new Error("stop"));
    return running;
  });
  const stubs = (): string | undefined =>
    /^landfall_cache_stubs\{resource="services"\} (\d+)$/m.exec(registry.render())?.[1];
  return { clock, client, services, log, events, stubs };
}

function listStubs(services: StoreReader<Service>): string[] {
  const stubs = [...services.values()].filter(({ metadata }) => metadata.isStub);
  return stubs.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

test.each(["in a list", "in a watch"])("large Services of one namespace, %s", async (where) => {
  const script =
    where === "in a list"
      ? [toPage([...EVIL, ...GOOD])]
      : [toPage([]), { watch: [...EVIL, ...GOOD].map((one) => toEvent("ADDED", one)) }];
  const { clock, services, log, events, stubs } = setUp(script);
  await clock.advance(0);
  expect(services.size).toBe(EVIL.length + GOOD.length);
  const found = listStubs(services);
  // One namespace takes no more than three quarters.
  expect(found.length).toBeGreaterThan(MANY / 2);
  expect(found.length).toBeLessThan(MANY);
  expect(found.filter((key) => !key.startsWith("evil/"))).toEqual([]);
  expect(stubs()).toBe(`${found.length}`);
  const [first = ""] = found;
  expect(services.get(first)).toMatchObject({
    metadata: {
      uid: first,
      labels: { a: "b" },
      annotations: { "landfall.dev/address-pool": "main" },
    },
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  });
  expect(Object.keys(services.get(first)?.metadata.annotations ?? {})).toHaveLength(1);
  expect(log.filter((line) => line.includes("too large"))).toHaveLength(1);
  expect(log.join("")).toContain(`object=${first}`);
  expect(events).toHaveLength(1);
  expect(events[0]).toStartWith(
    `${first} TooLarge: Landfall keeps only a part of this Service and does nothing for it: it takes 2`,
  );
});

test("what has a place again is whole again, without a change of it", async () => {
  const [kept, gone] = [EVIL.slice(-2), EVIL.slice(0, -2)];
  const deleted = { watch: gone.map((one) => toEvent("DELETED", one)) };
  const bookmark = toEvent("BOOKMARK", toService("", ""));
  const rest: ScriptStep = { watch: [{ waitMs: 30_000 }, bookmark, { waitMs: 35_000 }] };
  const { clock, services, client, stubs } = setUp([
    toPage(EVIL),
    deleted,
    rest,
    toPage(kept, "11"),
  ]);
  const told: string[] = [];
  services.subscribe((key, _before, after) => {
    if (after !== undefined && !after.metadata.isStub) told.push(key);
  });
  await clock.advance(0);
  await clock.advance(5_000);
  expect(listStubs(services)).toHaveLength(2);
  told.length = 0;
  await clock.advance(65_000);
  expect(client.requests.filter((one) => one.startsWith("list"))).toHaveLength(2);
  expect(listStubs(services)).toEqual([]);
  expect(told).toHaveLength(2);
  expect(stubs()).toBe("0");
});

longTest(
  "more small objects than there is room for are names, and kinds of operators are whole",
  async () => {
    const small = Array.from({ length: Math.ceil(BUDGET.view / 1_000) }, (_one, at) =>
      toService(`evil/s${at}`, LONG.slice(0, 1_200)),
    );
    const limited = setUp([{ page: { items: small, resourceVersion: "9" } }]);
    await limited.clock.advance(0);
    const found = listStubs(limited.services);
    expect(found.length).toBeGreaterThan(50);
    expect(limited.services.get(found[0] ?? "")?.spec).toBeUndefined();
    const whole = setUp([toPage(EVIL)], { ...SERVICES, isAlwaysWhole: true });
    await whole.clock.advance(0);
    expect(listStubs(whole.services)).toEqual([]);
  },
);

test("a loop leaves a stub alone, and works on the object once it is whole", async () => {
  await using rig = startWidgets();
  const { metadata, ...widget } = toWidget("w", "1");
  rig.widgets.apply(Object.freeze({ ...widget, metadata: { ...metadata, isStub: true as const } }));
  await rig.clock.advance(1_000);
  expect(rig.worked).toEqual([]);
  rig.widgets.apply({ ...widget, metadata: { ...metadata, resourceVersion: "2" } });
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["ns/w"]);
});

test("a ConfigMap with the label of a SIPCluster that no SIPCluster owns is kept in part", () => {
  const metadata = { name: "a", namespace: "evil", labels: { "landfall.dev/sip-cluster": "x" } };
  const kept = trimObject(CONFIG_MAPS, { metadata, data: { long: LONG, short: "a" } });
  expect(kept.data).toEqual({ short: "a" });
  expect(kept.metadata).toEqual({ ...metadata, isStub: true });
});

test("no SIPCluster takes a host of which a part is missing", () => {
  const status = { provisioning: { state: "available" } };
  const metadata = { name: "a", namespace: "metal", isStub: true } as const;
  const host = { ...BARE_METAL_HOSTS, metadata, status };
  expect(toHostFacts(host).trouble).toBe("too large to be kept in memory");
});
