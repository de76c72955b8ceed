import { expect, test } from "bun:test";
import { startListeners } from "../../lib/app/listeners.ts";
import { createParts } from "../../lib/app/parts.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion_guard.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { FakeProvider } from "../support/instances.ts";
import { ScriptedKubeClient } from "../support/scripted_kube_client.ts";

const clock = systemClock;
const BASE = {
  provider: new FakeProvider(),
  client: new ScriptedKubeClient(clock),
  clock,
  log: silentLogger,
  host: "test",
  controllers: new Set<string>(),
  concurrentNodeSyncs: 1,
  nodeStatusUpdateFrequencyMs: 1_000,
  nodeMonitorPeriodMs: 1_000,
  deletion: DEFAULT_DELETION,
};
const signal = new AbortController().signal;

test("startListeners() listens nowhere when nobody asks for it", async () => {
  const options = { ...BASE, metrics: new MetricsRegistry() };
  expect(await startListeners(options, createParts(options), signal)).toEqual([]);
});

test("startListeners() serves the debug pages, alive but not ready before anything is known", async () => {
  const ports: number[] = [];
  const options = {
    ...BASE,
    metrics: new MetricsRegistry(),
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
    onDebugListening: (address: { readonly kind: string; readonly port?: number }) =>
      void ports.push(address.port ?? 0),
  } as const;
  const [server] = await startListeners(options, createParts(options), signal);
  const read = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${ports[0]}${path}`);
  expect((await read("/livez")).status).toBe(200);
  expect((await read("/readyz")).status).toBe(500);
  expect((await read("/debug/nodes")).status).toBe(200);
  await server?.stop(0);
});
