/**
 * Load balancers of SIPClusters in the real HAProxy: its Pods are processes on addresses of loopback.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { machine } from "../../support/sipcluster/machines.ts";
import { ApiServer, ask, Client, listAnswering } from "../../support/sipcluster/api_servers.ts";
import { hurry, planConfigs, skipsHaproxy, startPod } from "../../support/sipcluster/haproxy.ts";
import { until } from "../../support/nodes/rig.ts";
import { findFreePort } from "../../support/process/server_process.ts";

/** A part of loopback that no other process of the tests uses. */
const PREFIX = `127.${100 + (process.pid % 100)}`;
const POD = `${PREFIX}.0.1`;
const OTHER_POD = `${PREFIX}.0.2`;
const NAMES = ["a", "b", "c"] as const;
const { signal } = new AbortController();

function toServerAddress(at: number): string {
  return `${PREFIX}.1.${at + 1}`;
}

/** The configuration for the first so many API servers. */
function planApiConfig(count: number): string {
  const services = { loadBalancerControlPlane: [{ nodePort: 0, nodeInterfaceId: "oam" }] };
  const machines = NAMES.slice(0, count).map((name, at) => machine(name, toServerAddress(at)));
  return planConfigs(services, machines)[0] ?? "";
}

/** One for each name; `await using` ends them. */
class ApiServers extends AsyncDisposableStack {
  readonly a = this.use(new ApiServer("a", toServerAddress(0)));
  readonly b = this.use(new ApiServer("b", toServerAddress(1)));
  readonly c = this.use(new ApiServer("c", toServerAddress(2)));
}

describe.skipIf(skipsHaproxy())("the load balancer of API servers", () => {
  test("brings requests to every server, and none to one that is gone until it is back", async () => {
    await using servers = new ApiServers();
    await using pod = await startPod(POD, hurry(planApiConfig(3)), signal);
    expect(await listAnswering(POD)).toEqual(["a", "b", "c"]);

    await servers.a.stop();
    // Before a health check fails, a connection that is refused is tried on another server.
    expect(await listAnswering(POD)).toEqual(["b", "c"]);
    await until("HAProxy takes the server out", () => pod.hasLogged("Server http/a is DOWN"));
    expect(await listAnswering(POD)).toEqual(["b", "c"]);

    servers.a.start();
    await until("the server gets requests again", async () =>
      (await listAnswering(POD)).includes("a"),
    );
  });

  test("brings no requests to a server that is not ready, but to one that knows no anonymous users", async () => {
    await using servers = new ApiServers();
    servers.a.readyStatus = 500;
    servers.b.readyStatus = 401;
    await using pod = await startPod(POD, hurry(planApiConfig(3)), signal);
    await until("HAProxy takes the server out", () => pod.hasLogged("Server http/a is DOWN"));
    await until("the other servers were checked often", () => servers.b.readyAsked > 5);
    expect(await listAnswering(POD)).toEqual(["b", "c"]);
  });

  test("ends connections to a server that is taken out, so that watches begin again", async () => {
    await using servers = new ApiServers();
    await using pod = await startPod(POD, hurry(planApiConfig(1)), signal);
    let isOpen = true;
    const watch = ask(POD, "/watch").catch(() => (isOpen = false));
    await until("the watch is open", () => servers.a.watches === 1);
    servers.a.readyStatus = 500;
    await until("the watch ends", () => !isOpen);
    expect(await watch).toBe(false);
    expect(await pod.hasLogged("Server http/a is DOWN")).toBe(true);
  });

  test("accepts a configuration without servers, and is ready", async () => {
    await using pod = await startPod(POD, planApiConfig(0), signal);
    expect(await pod.isReady()).toBe(true);
    expect(await listAnswering(POD, 2)).toEqual(["none"]);
  });

  test("loses no request that is tried again while its Pods roll", async () => {
    await using servers = new ApiServers();
    await using old = await startPod(POD, hurry(planApiConfig(1)), signal);
    const watch = ask(POD, "/watch");
    await until("the watch is open", () => servers.a.watches === 1);
    const client = new Client([POD]);
    await until("the old Pod serves", () => client.answers.length > 20);

    servers.use(await startPod(OTHER_POD, hurry(planApiConfig(3)), signal));
    client.endpoints = [POD, OTHER_POD];
    await until("both serve", () => client.answers.includes("c"));
    // Kubernetes sends no more connections to a Pod that it ends, and signals it after `sleep`.
    client.endpoints = [OTHER_POD];
    old.process.signal("SIGUSR1");
    await until("the old Pod listens no more", () => old.isReady().then(Boolean, () => true));
    expect(old.process.ended).toBe(false);
    servers.a.release();
    expect(await watch).toBe("a");
    await until("the old Pod ends", () => old.process.ended);
    const count = client.answers.length;
    await until("the new Pod serves", () => client.answers.length > count + 20);
    await client.stop();
    expect(client.lost).toEqual([]);
    expect(await listAnswering(OTHER_POD)).toEqual(["a", "b", "c"]);
  });

  test("ends after a while although a watch is open", async () => {
    await using servers = new ApiServers();
    const config = planApiConfig(1).replace("hard-stop-after 40s", "hard-stop-after 300ms");
    await using pod = await startPod(POD, config, signal);
    const watch = ask(POD, "/watch").catch(() => "ended");
    await until("the watch is open", () => servers.a.watches === 1);
    pod.process.signal("SIGUSR1");
    await until("the Pod ends", () => pod.process.ended);
    expect(await watch).toBe("ended");
  });
});

/** A server on a worker. It answers each request with its address and port. */
class WorkerServer implements AsyncDisposable {
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor(hostname: string, port: number) {
    this.#server = Bun.serve({
      hostname,
      port,
      fetch: () => new Response(`${hostname} ${port}`),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

async function askWorker(host: string, port: number): Promise<string> {
  const headers = { connection: "close" };
  const within = AbortSignal.timeout(5000);
  const answer = await fetch(`http://${host}:${port}/`, { headers, signal: within });
  return await answer.text();
}

/** The configuration for two ports of these workers. */
function planWorkerConfig(start: number, addresses: readonly string[]): string {
  const fields = { nodePortRange: { start, end: start + 1 }, nodeInterfaceId: "oam" };
  const machines = addresses.map((one, at) => machine(`w${at}`, one, { role: "Worker" }));
  return hurry(planConfigs({ loadBalancerWorker: [fields] }, machines)[0] ?? "");
}

describe.skipIf(skipsHaproxy())("the load balancer of workers", () => {
  for (const [front, host, server] of [
    [POD, POD, "::1"],
    ["::1", "[::1]", toServerAddress(0)],
  ] as const) {
    test(`brings connections from ${front} to ${server}, each port to the same port`, async () => {
      const start = await findFreePort();
      await using stack = new AsyncDisposableStack();
      for (const port of [start, start + 1]) stack.use(new WorkerServer(server, port));
      stack.use(await startPod(front, planWorkerConfig(start, [server]), signal));
      for (const port of [start, start + 1]) {
        expect(await askWorker(host, port)).toBe(`${server} ${port}`);
      }
    });
  }

  test("brings connections of a port to the workers on which it is open", async () => {
    const start = await findFreePort();
    const [one, other] = [toServerAddress(0), toServerAddress(1)];
    await using stack = new AsyncDisposableStack();
    stack.use(new WorkerServer(one, start));
    stack.use(new WorkerServer(other, start));
    stack.use(new WorkerServer(other, start + 1));
    stack.use(await startPod(POD, planWorkerConfig(start, [one, other]), signal));
    const answers = new Set<string>();
    for (let at = 0; at < 8; at += 1) {
      answers.add(await askWorker(POD, start));
      answers.add(await askWorker(POD, start + 1));
    }
    const wanted = [`${one} ${start}`, `${other} ${start}`, `${other} ${start + 1}`];
    expect([...answers].toSorted()).toEqual(wanted);
  });
});
