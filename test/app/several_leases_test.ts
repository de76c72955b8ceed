/**
 * Processes whose controllers wait for several Leases: each Lease has a leader of its own.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { runApp } from "../../lib/app/app.ts";
import type { AppOptions } from "../../lib/app/options.ts";
import type { LoadedController, RunningController } from "../../lib/controllers/definition.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { LeadershipLostError } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import type { ListenAddress } from "../../lib/core/net/listen_address.ts";
import type { KubeClient } from "../../lib/kube/api/client.ts";
import { createKubeClient } from "../../lib/kube/api/http_client.ts";
import { loadCredentials } from "../../lib/kube/credentials/mod.ts";
import { createRequestMetrics } from "../../lib/kube/api/request.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../lib/simulator/kubernetes/mod.ts";
import { CONFIG_MAPS, GALLERIES } from "../support/galleries/gallery.ts";
import { galleryController, TWIN_LEASE } from "../support/galleries/definition.ts";
import { describeTakeover } from "../support/galleries/scenario.ts";
import { until } from "../support/nodes/rig.ts";
import { startBareServer } from "../support/process/bare_server.ts";

const NAMESPACE = "kube-system";
const MAIN = "ccm";
const KIND = TWIN_LEASE;
/** A busy machine may keep a renewal waiting for seconds. */
const TIMES = { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 100 } as const;

/** A controller that only waits, and what it was given. */
interface Waiting extends LoadedController {
  client?: KubeClient;
  /** The signal of its run; absent while another process leads. */
  signal?: AbortSignal;
}

interface Process {
  /** Waits for the Lease of the process; absent: none of its controllers does. */
  readonly main: Waiting;
  /** Waits for the Lease of its kind. */
  readonly kind: Waiting;
  readonly url: string;
  stop(): void;
  /** Resolves with what `runApp` rejects with, if it does. */
  readonly ended: Promise<unknown>;
}

let kubernetes: KubernetesSimulator;
const running: Process[] = [];
beforeEach(() => {
  kubernetes = startKubernetesSimulator({ clock: systemClock });
});
afterEach(async () => {
  for (const process of running.splice(0)) {
    process.stop();
    await process.ended;
  }
  await kubernetes.stop();
});

function toWaiting(name: string, lease?: string): Waiting {
  const waiting: Waiting = {
    definition: { ...galleryController, name, ...(lease && { lease }) },
    module: {
      create: ({ client }): RunningController => {
        waiting.client = client;
        return { run: (signal) => run(signal) };
      },
    },
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    waiting.signal = signal;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  return waiting;
}

async function start(host: string, chosen: readonly ("main" | "kind")[]): Promise<Process> {
  const [clock, metrics] = [systemClock, new MetricsRegistry()];
  const credentials = await loadCredentials({ master: kubernetes.url, env: {}, clock });
  const shared = { credentials, clock, metrics: createRequestMetrics(metrics), version: host };
  const waiting = { main: toWaiting("main"), kind: toWaiting("kind", KIND) };
  const stopping = new AbortController();
  const address = Promise.withResolvers<ListenAddress>();
  const options: AppOptions = {
    client: createKubeClient(shared),
    clock,
    log: silentLogger,
    metrics,
    host,
    controllers: chosen.map((one) => waiting[one]),
    concurrentNodeSyncs: 1,
    flags: {},
    election: { namespace: NAMESPACE, name: MAIN, ...TIMES, client: createKubeClient(shared) },
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
    onDebugListening: address.resolve,
  };
  const ended = runApp(options, stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const listening = await address.promise;
  const url = listening.kind === "tcp" ? `http://127.0.0.1:${listening.port}` : "";
  const process = { ...waiting, url, ended, stop: () => stopping.abort() };
  running.push(process);
  return process;
}

function findHolder(name: string): string | undefined {
  const lease = kubernetes.objects.get("leases", { namespace: NAMESPACE, name });
  const { holderIdentity }: { holderIdentity?: string } = Object(lease?.["spec"]);
  return holderIdentity;
}

async function untilLeads(one: Waiting): Promise<void> {
  await until("it leads", () => one.signal !== undefined);
}

async function write({ client }: Waiting, name: string): Promise<unknown> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } };
  const { signal } = new AbortController();
  const path = { namespace: "default" };
  return await client?.create(CONFIG_MAPS, path, body, signal).catch((error: unknown) => error);
}

test("a process leads with one Lease and stands by for the other, and writes only where it leads", async () => {
  const first = await start("first", ["main"]);
  await untilLeads(first.main);
  const second = await start("second", ["main", "kind"]);
  await untilLeads(second.kind);
  expect(findHolder(MAIN)).toStartWith("first_");
  expect(findHolder(KIND)).toStartWith("second_");
  expect(second.main.signal).toBeUndefined();
  expect(await write(second.kind, "a")).toMatchObject({ metadata: { name: "a" } });
  expect(await write(second.main, "b")).toBeInstanceOf(LeadershipLostError);

  const metrics = await (await fetch(`${second.url}/metrics`)).text();
  expect(metrics).toContain(`leader_election_master_status{name="${MAIN}"} 0`);
  expect(metrics).toContain(`leader_election_master_status{name="${KIND}"} 1`);
  const health = await (await fetch(`${second.url}/healthz?verbose`)).text();
  expect(health).toContain("[+]leaderElection ok");
  expect(health).toContain(`[+]leaderElection-${KIND} ok`);

  first.stop();
  expect(await first.ended).toBeUndefined();
  await untilLeads(second.main);
  // One process has one name in all Leases.
  expect(findHolder(MAIN)).toBe(findHolder(KIND));
});

test("a process whose controllers all have a Lease of their own leaves that of the process alone", async () => {
  const only = await start("only", ["kind"]);
  await untilLeads(only.kind);
  expect(findHolder(MAIN)).toBeUndefined();
  expect((await fetch(`${only.url}/livez/leaderElection`)).status).toBe(200);
  only.stop();
  expect(await only.ended).toBeUndefined();
  expect(findHolder(KIND)).toBe("");
});

test.each([
  ["main", "kind", MAIN, KIND],
  ["kind", "main", KIND, MAIN],
] as const)(
  "a process that loses the Lease of %s ends, and %s ends in order and gives its Lease back",
  async (lost, kept, lostLease, keptLease) => {
    const only = await start("only", ["main", "kind"]);
    await Promise.all([untilLeads(only.main), untilLeads(only.kind)]);
    const path = { namespace: NAMESPACE, name: lostLease };
    kubernetes.objects.patch("leases", path, { spec: { holderIdentity: "other" } });
    const error = await only.ended;
    expect(error).toBeInstanceOf(LeadershipLostError);
    expect(error).toMatchObject({
      message: `leaderelection lost: Lease ${NAMESPACE}/${lostLease}: other holds it`,
    });
    expect(only[lost].signal?.reason).toBe(error);
    expect(only[kept].signal?.reason).not.toBeInstanceOf(LeadershipLostError);
    expect([findHolder(lostLease), findHolder(keptLease)]).toEqual(["other", ""]);
  },
);

describeTakeover("a simulated API server", async () => {
  const { kubernetes: server, kubeconfig, stop } = await startBareServer();
  return {
    kubeconfig,
    fetch: (path, init) => fetch(server.url + path, init),
    install: async () => server.installKind(GALLERIES),
    stop,
  };
});
