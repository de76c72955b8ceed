import { expect, test } from "bun:test";
import { describeService, type ServiceFacts } from "../../../lib/controllers/service/describe.ts";
import { FINALIZER, toService } from "../../support/services/service.ts";
import { serviceController } from "../../../lib/controllers/service/definition.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";
import type { PoolUsage } from "../../../lib/cloud/pools/usage.ts";
import { createServiceMetrics } from "../../../lib/controllers/service/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

const SERVICE = toService({
  metadata: { finalizers: [FINALIZER] },
  spec: { ports: [{ port: 80 }, { port: 53, protocol: "UDP" }] },
  status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "a.example" }] } },
});
const NOW = { monotonicMs: 100_000, ms: Date.UTC(2026, 0, 1) };
const part = { kind: "rule", name: "tcp 80", wanted: "30080" };
const FACTS: ServiceFacts = {
  managed: { service: SERVICE, state: "ready", readyAtMs: 40_000, succeededAt: NOW.ms },
  failed: undefined,
  plan: { steps: [{ summary: "create rule" }], problems: [], parts: [part] },
  nodes: {
    backends: [{ nodeName: "n1", internalIps: [] }],
    members: [],
    instanceIds: new Set(),
    excludedIds: new Set(),
  },
  isLeaving: false,
  now: NOW,
};

test("describeService() of one that is ready", () => {
  expect(describeService(SERVICE, FACTS)).toEqual({
    state: "ready",
    addresses: ["192.0.2.1", "a.example"],
    ports: ["tcp 80", "udp 53"],
    backends: ["n1"],
    parts: [part],
    problems: [],
    steps: ["create rule"],
    lastReconcile: { at: "2026-01-01T00:00:00.000Z", outcome: "ok" },
  });
});

test("describeService() counts what can get traffic, and shows the address behind a hostname", () => {
  const overview = { address: "192.0.2.9", backends: ["n2", "n3"], serving: 1 };
  const plan = { steps: [], problems: [], parts: [], overview: () => overview };
  const report = describeService(SERVICE, { ...FACTS, plan });
  expect(report).toMatchObject({ backends: ["n2", "n3"], serving: 1 });
  expect(report.addresses).toEqual(["192.0.2.1", "a.example", "192.0.2.9"]);
  const shown = { ...SERVICE, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
  expect(describeService(shown, { ...FACTS, plan }).addresses).toEqual(["192.0.2.1"]);
});

test("describeService() of one that fails, and of one that goes", () => {
  const managed = {
    ...FACTS.managed,
    state: "failing",
    failure: "no",
    waitsFor: () => "x",
  } as const;
  const failed = { at: NOW.ms + 1, outcome: "error", error: "no" } as const;
  const report = describeService(SERVICE, { ...FACTS, managed, failed, isLeaving: true });
  expect(report).toMatchObject({
    state: "failing",
    failure: "no",
    waitsFor: "x",
    isLeaving: true,
    backends: [],
    notReadySince: "2025-12-31T23:59:00.000Z",
    lastReconcile: { outcome: "error", error: "no" },
  });
  const { plan: _none, ...unplanned } = FACTS;
  const fresh = { ...FACTS.managed };
  delete fresh.succeededAt;
  const unknown = describeService(SERVICE, { ...unplanned, plan: undefined, managed: fresh });
  expect(unknown).toMatchObject({ parts: [], steps: [], lastReconcile: null });
});

test("describeService() of one that waits has that outcome, and no backends if load balancers have none", () => {
  const managed = { ...FACTS.managed, state: "waiting", failure: "no" } as const;
  const report = describeService(SERVICE, { ...FACTS, managed, nodes: undefined });
  expect(report.lastReconcile).toEqual({ at: "2026-01-01T00:00:00.000Z", outcome: "waiting" });
  expect(report).not.toHaveProperty("backends");
});

test("the controller of Services has the names, the flags and the rights of the Go controller", () => {
  const { name, aliases, component, kind, flags, needs } = serviceController;
  const rights = serviceController.listRights({ settings: undefined, flags: {} });
  expect([name, ...aliases, component]).toEqual([
    "service",
    "service-lb-controller",
    "service-controller",
  ]);
  expect(kind).toBe(SERVICES);
  expect(needs).toEqual(["loadBalancers"]);
  expect(flags.map((flag) => `${flag.name}=${flag.default}`)).toEqual([
    "concurrent-service-syncs=5",
    "service-sync-period=10m0s",
    "load-balancer-class=",
    "serve-services-without-class=",
  ]);
  const { access } = rights[1] ?? {};
  expect(access).toEqual({ group: "", resource: "services", subresource: "status", verb: "patch" });
});

test.each<[string, string | undefined]>([
  ["", undefined],
  ["example.com/mine", undefined],
  ["mine", undefined],
  ["two words", "a class such as example.com/name"],
  ["Example.com/mine", "a class such as example.com/name"],
])("--load-balancer-class=%p: %p", (text, problem) => {
  const flag = serviceController.flags.find(({ name }) => name === "load-balancer-class");
  expect(flag?.type).toBe("string");
  expect(flag?.type === "string" ? flag.findProblem(text) : "").toBe(problem);
});

test("createServiceMetrics() has the metrics of the Go controller, and the states of load balancers", () => {
  const registry = new MetricsRegistry();
  const metrics = createServiceMetrics(registry);
  metrics.countSync();
  metrics.countNodeFailure();
  metrics.noteHostUpdate(3_000);
  metrics.noteNodePass(4_000);
  let pools: readonly PoolUsage[] = [
    { pool: "a", family: "IPv4", used: 3, total: 4 },
    { pool: "a", family: "IPv6", used: 0, total: 2 ** 64 },
  ];
  metrics.readFrom({
    listStates: () => ["ready", "ready", "failing"],
    readOldestPendingMs: () => 9_000,
    countLeftovers: () => 4,
    listPools: () => pools,
  });
  const page = registry.render();
  for (const line of [
    "service_controller_loadbalancer_sync_total 1",
    "service_controller_nodesync_error_total 1",
    'service_controller_update_loadbalancer_host_latency_seconds_bucket{le="2"} 0',
    'service_controller_update_loadbalancer_host_latency_seconds_bucket{le="4"} 1',
    'service_controller_nodesync_latency_seconds_bucket{le="16384"} 1',
    'landfall_load_balancers{state="ready"} 2',
    'landfall_load_balancers{state="working"} 0',
    'landfall_load_balancers{state="failing"} 1',
    "landfall_load_balancer_pending_seconds 9",
    "landfall_load_balancer_leftovers 4",
    'landfall_address_pool_addresses{family="IPv4",pool="a"} 4',
    'landfall_address_pool_addresses_used{family="IPv4",pool="a"} 3',
    'landfall_address_pool_addresses{family="IPv6",pool="a"} 18446744073709552000',
    'landfall_address_pool_addresses_used{family="IPv6",pool="a"} 0',
  ]) {
    expect(page).toContain(line);
  }
  pools = [];
  expect(registry.render()).not.toContain('pool="a"');
});
