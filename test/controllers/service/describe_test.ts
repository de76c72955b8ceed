import { expect, test } from "bun:test";
import { describeService, type ServiceFacts } from "../../../lib/controllers/service/describe.ts";
import { FINALIZER, toService } from "../../support/services/service.ts";

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
  backends: ["n1"],
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
  const managed = { ...FACTS.managed, state: "failing", failure: "no", waitsFor: "x" } as const;
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
  const report = describeService(SERVICE, { ...FACTS, managed, backends: undefined });
  expect(report.lastReconcile).toEqual({ at: "2026-01-01T00:00:00.000Z", outcome: "waiting" });
  expect(report).not.toHaveProperty("backends");
});
