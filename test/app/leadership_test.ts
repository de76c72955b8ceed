import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { runApp } from "../../lib/app/app.ts";
import type { AppOptions } from "../../lib/app/options.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { loadControllers } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { Fence, LeadershipLostError } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import type { ListenAddress } from "../../lib/core/net/listen_address.ts";
import { loadCredentials } from "../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../lib/kube/api/http_client.ts";
import { toElectionDeadlineMs } from "../../lib/kube/election/leader.ts";
import { createRequestMetrics } from "../../lib/kube/api/request.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../lib/simulator/kubernetes/mod.ts";
import { FakeProvider, toInstance } from "../support/cloud/instances.ts";
import { until } from "../support/nodes/rig.ts";

const LEASE = { namespace: "kube-system", name: "ccm" } as const;
/** A busy machine may keep a renewal waiting for seconds. */
const TIMES = { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 100 } as const;
/** Far less than the Lease of a leader that is silent goes on for. */
const HAND_OVER_MS = 5_000;
const TAINT = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

interface Process {
  readonly host: string;
  readonly options: AppOptions;
  readonly provider: FakeProvider;
  readonly url: string;
  /** As SIGTERM. */
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

async function toOptions(host: string, provider: FakeProvider): Promise<AppOptions> {
  const clock = systemClock;
  const metrics = new MetricsRegistry();
  const credentials = await loadCredentials({ master: kubernetes.url, env: {}, clock });
  const shared = { credentials, clock, metrics: createRequestMetrics(metrics), version: host };
  const deadlineMs = toElectionDeadlineMs(TIMES);
  return {
    provider,
    client: createKubeClient(shared),
    clock,
    log: silentLogger,
    metrics,
    host,
    controllers: await loadControllers(CONTROLLERS.filter(({ name }) => name === "cloud-node")),
    sections: new Map([[DELETION.key, DEFAULT_DELETION]]),
    concurrentNodeSyncs: 4,
    flags: {},
    election: { ...LEASE, ...TIMES, client: createKubeClient({ ...shared, deadlineMs }) },
  };
}

async function start(host: string): Promise<Process> {
  const provider = new FakeProvider();
  for (const name of ["a", "b"]) provider.instances.set(name, toInstance(name, { zone: "z" }));
  const stopping = new AbortController();
  const address = Promise.withResolvers<ListenAddress>();
  const options: AppOptions = {
    ...(await toOptions(host, provider)),
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
    onDebugListening: address.resolve,
  };
  const ended = runApp(options, stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const listening = await address.promise;
  const url = listening.kind === "tcp" ? `http://127.0.0.1:${listening.port}` : "";
  const process = { host, options, provider, url, ended, stop: () => stopping.abort() };
  running.push(process);
  await until(`${host} is ready`, () => isOk(process, "/readyz"));
  return process;
}

async function isOk({ url }: Process, path: string): Promise<boolean> {
  return (await fetch(`${url}${path}`)).ok;
}

function holder(): string {
  const lease = kubernetes.objects.get("leases", LEASE);
  const { holderIdentity = "" } = Object(lease?.["spec"]) as { holderIdentity?: string };
  return holderIdentity;
}

function register(name: string): void {
  kubernetes.objects.createNode({
    metadata: { name },
    spec: { providerID: `test://${name}`, taints: [TAINT] },
  });
}

function isInitialised(name: string): boolean {
  const node = kubernetes.objects.getNode(name) as Node | undefined;
  return node?.metadata.labels?.["topology.kubernetes.io/zone"] === "z";
}

describe("runApp() with an election", () => {
  test("lets one act, keeps the other warm, and hands over long before the Lease runs out", async () => {
    const first = await start("first");
    register("a");
    await until("the leader initialises", () => isInitialised("a"));
    const second = await start("second");
    expect(holder()).toStartWith("first_");
    expect(second.provider.lists).toBeGreaterThan(0);
    first.stop();
    expect(await first.ended).toBeUndefined();
    expect(holder()).toBe("");
    register("b");
    await until("the other initialises", () => isInitialised("b"), HAND_OVER_MS);
    expect(holder()).toStartWith("second_");
  });

  test("lists Nodes once when it leads from its start, and again when it takes over", async () => {
    const countLists = (): number =>
      kubernetes.requests.entries.filter(
        ({ verb, resource }) => verb === "list" && resource === "nodes",
      ).length;
    register("a");
    const first = await start("first");
    await until("the leader initialises", () => isInitialised("a"));
    expect(countLists()).toBe(1);
    await start("second");
    expect(countLists()).toBe(2);
    first.stop();
    register("b");
    await until("the other initialises", () => isInitialised("b"), HAND_OVER_MS);
    expect(countLists()).toBeGreaterThan(2);
  });

  test("tells who leads; a standby is as ready and as healthy", async () => {
    const first = await start("first");
    await until("it leads", () => holder() !== "");
    const second = await start("second");
    for (const process of [first, second]) {
      expect(await isOk(process, "/healthz/leaderElection")).toBe(true);
      expect(await isOk(process, "/livez/leaderElection")).toBe(true);
      expect(await isOk(process, "/readyz/leaderElection")).toBe(false);
    }
    const read = async ({ url }: Process): Promise<string> =>
      await (await fetch(`${url}/metrics`)).text();
    expect(await read(first)).toContain('leader_election_master_status{name="ccm"} 1');
    expect(await read(second)).toContain('leader_election_master_status{name="ccm"} 0');
    expect(await read(first)).toContain("running_managed_controllers{");
    expect(await read(second)).not.toContain("running_managed_controllers{");
    const page = await fetch(`${second.url}/debug/`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain(holder());
  });

  test("ends with an error when another takes the Lease, and writes nothing after that", async () => {
    const first = await start("first");
    await until("it leads", () => holder() !== "");
    kubernetes.objects.patch("leases", LEASE, { spec: { holderIdentity: "other" } });
    const error = await first.ended;
    expect(error).toBeInstanceOf(LeadershipLostError);
    expect(error).toMatchObject({
      message: "leaderelection lost: Lease kube-system/ccm: other holds it",
    });
    expect(holder()).toBe("other");
    const stopped = kubernetes.objects.list("events", LEASE.namespace);
    expect(JSON.stringify(stopped)).toContain("stopped leading");
  });

  test("aborts a write that is under way when leadership is lost", async () => {
    const first = await start("first");
    await until("it leads", () => holder() !== "");
    kubernetes.faults.delayMs = 400;
    register("a");
    await until("a write is under way", () =>
      kubernetes.requests.entries.some(({ verb }) => verb === "patch"),
    );
    kubernetes.objects.patch("leases", LEASE, { spec: { holderIdentity: "other" } });
    const fromMs = performance.now();
    expect(await first.ended).toBeInstanceOf(LeadershipLostError);
    expect(performance.now() - fromMs).toBeLessThan(5_000);
    kubernetes.faults.clear();
  });
});

test("runApp() gives controllers a client that asks for leadership right before each write", async () => {
  const provider = new FakeProvider();
  provider.instances.set("a", toInstance("a", { zone: "z" }));
  const options = await toOptions("h", provider);
  const fence = new Fence();
  const check = spyOn(fence, "check");
  const stopping = new AbortController();
  const ended = runApp({ ...options, fence }, stopping.signal);
  register("a");
  await until("the Node is initialised", () => isInitialised("a"));
  stopping.abort();
  await ended;
  const isWrite = ({ verb, resource }: { readonly verb: string; readonly resource: string }) =>
    verb === "patch" && resource.startsWith("nodes");
  const writes = kubernetes.requests.entries.filter(isWrite).length;
  expect(writes).toBeGreaterThan(0);
  // Once when it is asked for, and once more when it is sent.
  expect(check).toHaveBeenCalledTimes(2 * writes);
});

test("runApp() watches again as soon as the Lease tells that the API server is back", async () => {
  const options = await toOptions("h", new FakeProvider());
  const stopping = new AbortController();
  const countLists = (): number =>
    kubernetes.requests.entries.filter(
      ({ verb, resource }) => verb === "list" && resource === "nodes",
    ).length;
  const back = kubernetes.faults.refuse({ status: 500 });
  const ended = runApp(options, stopping.signal);
  await until("two tries", () => countLists() === 2);
  // The next one would be 1.6 s later at least.
  back();
  const fromMs = performance.now();
  await until("the third", () => countLists() >= 3);
  expect(performance.now() - fromMs).toBeLessThan(1_000);
  stopping.abort();
  await ended;
});
