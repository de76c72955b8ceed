/**
 * The client against servers on loopback.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { describeError } from "../../../lib/core/errors.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient, PatchType, WatchEvent } from "../../../lib/kube/api/client.ts";
import { createKubeClient, type KubeClientOptions } from "../../../lib/kube/api/http_client.ts";
import { type Lease, LEASES } from "../../../lib/kube/kinds/lease.ts";
import {
  createRequestMetrics,
  createTransport,
  Recovery,
  type RecoveryNews,
  type Transport,
} from "../../../lib/kube/api/request.ts";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { ManualClock, settle } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";
import { connect } from "../../support/kube/connect.ts";

const never = new AbortController().signal;
const WATCH = { resourceVersion: "7", timeoutSeconds: 300 };
const NODE_A = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Asked {
  method: string;
  /** Path and query. */
  path: string;
  headers: Headers;
  body: unknown;
}

interface Bench {
  client: KubeClient;
  asked: Asked[];
  metrics: MetricsRegistry;
}

type Answer = (asked: Asked) => Response | Promise<Response>;

async function startBench(
  answer: Answer,
  options: Partial<KubeClientOptions> = {},
): Promise<Bench> {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      const one = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body,
      };
      asked.push(one);
      return answer(one);
    },
  });
  closers.push(() => server.stop(true));
  return { asked, ...(await openClient(`http://127.0.0.1:${server.port}`, options)) };
}

async function openClient(
  master: string,
  options: Partial<KubeClientOptions>,
): Promise<{ client: KubeClient; metrics: MetricsRegistry }> {
  const metrics = new MetricsRegistry();
  const client = await connect({ master }, { metrics, version: "1.2.3", ...options });
  closers.push(() => client.close());
  return { client, metrics };
}

/** A stream of lines that stays open until it is cancelled. */
function createStream(lines: readonly object[]): { reply: Response; cancelled: Promise<void> } {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start(controller) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      controller.enqueue(new TextEncoder().encode(text));
    },
    cancel: () => cancelled.resolve(),
  });
  const headers = { "content-type": "application/json" };
  return { reply: new Response(body, { headers }), cancelled: cancelled.promise };
}

async function collect(events: AsyncIterable<WatchEvent>, into: string[]): Promise<void> {
  for await (const { type } of events) into.push(type);
}

describe("createKubeClient()", () => {
  test("reads an object and says who it is", async () => {
    const { client, asked } = await startBench(() => Response.json(NODE_A));
    expect(await client.read(NODES, { name: "a" }, never)).toEqual(NODE_A);
    expect(asked).toMatchObject([{ method: "GET", path: "/api/v1/nodes/a", body: undefined }]);
    expect(asked[0]?.headers.get("accept")).toBe("application/json");
    const agent = asked[0]?.headers.get("user-agent") ?? "";
    expect(agent).toMatch(/^landfall\/1\.2\.3 \([a-z0-9]+\/[a-z0-9]+\) kubernetes$/);
    expect(agent).not.toContain("x64");
  });

  test("lists a page", async () => {
    const list = {
      items: [{ metadata: { name: "a" } }],
      metadata: { resourceVersion: "7", continue: "c" },
    };
    const { client, asked } = await startBench(() => Response.json(list));
    const page = await client.list(EVENTS, { namespace: "n", limit: 500 }, never);
    expect(page).toMatchObject({ items: list.items, resourceVersion: "7", continue: "c" });
    expect(asked[0]?.path).toBe("/api/v1/namespaces/n/events?limit=500");
  });

  test("creates in the collection", async () => {
    const { client, asked } = await startBench(({ body }) =>
      Response.json(Object(body), { status: 201 }),
    );
    const body = { apiVersion: "v1", kind: "Event", metadata: { name: "a" } };
    const created = await client.create(EVENTS, { namespace: "n", name: "a" }, body, never);
    expect<object>(created).toEqual(body);
    expect(asked).toMatchObject([{ method: "POST", path: "/api/v1/namespaces/n/events", body }]);
    expect(asked[0]?.headers.get("content-type")).toBe("application/json");
  });

  test.each([
    ["merge", { a: null }, "application/merge-patch+json"],
    ["strategic", { a: 1 }, "application/strategic-merge-patch+json"],
  ] satisfies [PatchType, object, string][])("patches by %s", async (type, body, contentType) => {
    const { client, asked } = await startBench(() => Response.json(NODE_A));
    await client.patch(NODES, { name: "a", subresource: "status" }, { type, body }, never);
    expect(asked).toMatchObject([{ method: "PATCH", path: "/api/v1/nodes/a/status", body }]);
    expect(asked[0]?.headers.get("content-type")).toBe(contentType);
  });

  test("applies all that a manager wants, also what another one owns", async () => {
    const { client, asked } = await startBench(() => Response.json(NODE_A, { status: 201 }));
    const body = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
    const patch = { type: "apply", body, fieldManager: "landfall" } as const;
    expect((await client.patch(NODES, { name: "a" }, patch, never)).metadata.name).toBe("a");
    const path = "/api/v1/nodes/a?fieldManager=landfall&force=true";
    expect(asked).toMatchObject([{ method: "PATCH", path, body }]);
    expect(asked[0]?.headers.get("content-type")).toBe("application/apply-patch+yaml");
  });

  test("deletes with preconditions", async () => {
    const { client, asked } = await startBench(() =>
      Response.json({ kind: "Status", status: "Success" }),
    );
    await client.delete(NODES, { name: "a" }, { uid: "u", resourceVersion: "7" }, never);
    await client.delete(NODES, { name: "a" }, { propagationPolicy: "Foreground" }, never);
    const options = { apiVersion: "v1", kind: "DeleteOptions" };
    expect(asked.map(({ method, body }) => [method, body])).toEqual([
      ["DELETE", { ...options, preconditions: { uid: "u", resourceVersion: "7" } }],
      ["DELETE", { ...options, propagationPolicy: "Foreground" }],
    ]);
  });

  test("replaces a whole object, whatever is in it", async () => {
    const { client, asked } = await startBench(({ body }) => Response.json(Object(body)));
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l", resourceVersion: "7", managedFields: [{ manager: "m" }] },
      spec: { holderIdentity: "a", preferredHolder: "b" },
    };
    const path = { namespace: "n", name: "l" };
    expect(await client.replace<Lease>(LEASES, path, lease, never)).toEqual(lease);
    expect(asked).toMatchObject([{ method: "PUT", body: lease }]);
    expect(asked[0]?.path).toBe("/apis/coordination.k8s.io/v1/namespaces/n/leases/l");
    expect(asked[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("gets a path that is no object, as JSON or as text", async () => {
    const { client } = await startBench(({ path }) =>
      path === "/version" ? Response.json({ major: "1" }) : new Response("ok"),
    );
    expect(await client.get("/version", never)).toEqual({ major: "1" });
    expect(await client.get("/healthz", never)).toBe("ok");
  });

  test("names request and reason in its errors", async () => {
    const status = { kind: "Status", code: 409, reason: "Conflict", message: "modified" };
    const { client } = await startBench(() => Response.json(status, { status: 409 }));
    const patch = { type: "merge", body: {} } as const;
    await expect(client.patch(NODES, { name: "a" }, patch, never)).rejects.toMatchObject({
      kind: "conflict",
      message: 'Cannot patch "/api/v1/nodes/a": 409 Conflict: modified',
    });
  });

  const HTML = new Response("<html>signed in</html>");
  const BROKEN = new Response('{"a":', { headers: { "content-type": "application/json" } });
  test.each<[string, Response, (client: KubeClient) => Promise<unknown>, string]>([
    ["a page", HTML, (client) => client.read(NODES, { name: "a" }, never), "read"],
    ["a page", HTML, (client) => client.delete(NODES, { name: "a" }, {}, never), "delete"],
    ["broken JSON", BROKEN, (client) => client.read(NODES, { name: "a" }, never), "read"],
    ["broken JSON", BROKEN, (client) => client.list(NODES, {}, never), "list"],
    ["no event", BROKEN, (client) => collect(client.watch(NODES, WATCH, never), []), "watch"],
  ])("says which request got %s", async (_what, answer, ask, verb) => {
    const { client } = await startBench(() => answer.clone() as Response);
    await expect(ask(client)).rejects.toMatchObject({
      name: "KubeError",
      kind: "unavailable",
      message: expect.stringMatching(
        new RegExp(`^Cannot ${verb} "/api/v1/nodes(/a)?": the (answer|stream)`),
      ),
    });
  });

  test("reads what is packed, and says so if it cannot", async () => {
    const packed = Bun.gzipSync(JSON.stringify(NODE_A));
    let body = packed;
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const { client, asked } = await startBench(() => new Response(body, { headers }));
    expect(await client.read(NODES, { name: "a" }, never)).toEqual(NODE_A);
    expect(asked[0]?.headers.get("accept-encoding")).toBe("gzip");
    body = packed.slice(0, -12);
    await expect(client.read(NODES, { name: "a" }, never)).rejects.toMatchObject({
      kind: "unavailable",
      message: 'Cannot read "/api/v1/nodes/a": the answer cannot be unpacked',
    });
  });

  test("ends a request at its deadline, with an error of its own", async () => {
    const { client } = await startBench(() => new Promise(() => {}), { deadlineMs: 50 });
    const error = await client.read(NODES, { name: "a" }, never).catch((error: unknown) => error);
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(describeError(error)).toMatch(
      /^Cannot read "\/api\/v1\/nodes\/a": no answer from 127\.0\.0\.1:\d+ within 0\.05 s$/,
    );
  });

  test("keeps to its bound of requests at once; watches do not count", async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const answer = async ({ path }: Asked): Promise<Response> => {
      if (path.includes("watch")) return createStream([{ type: "ADDED", object: {} }]).reply;
      running += 1;
      most = Math.max(most, running);
      if (running === 3) gate.resolve();
      await gate.promise;
      await settle();
      running -= 1;
      return Response.json({});
    };
    const { client } = await startBench(answer, { inFlightMax: 3 });
    const iterators = Array.from({ length: 4 }, () =>
      client.watch(NODES, WATCH, never)[Symbol.asyncIterator](),
    );
    for (const one of iterators) expect((await one.next()).done).toBe(false);
    await Promise.all(Array.from({ length: 12 }, () => client.get("/x", never)));
    expect(most).toBe(3);
    for (const one of iterators) await one.return?.();
  });

  test("repeats a write on a broken connection only with a precondition", async () => {
    const requests: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (data) => {
        requests.push(String(data).split(" ")[0] ?? "");
        socket.resetAndDestroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { client } = await openClient(`http://127.0.0.1:${port}`, {});
    const path = { name: "a" };
    const patch = (body: object) => client.patch(NODES, path, { type: "merge", body }, never);
    const count = async (act: () => Promise<unknown>): Promise<number> => {
      requests.length = 0;
      await expect(act()).rejects.toMatchObject({ kind: "unavailable" });
      return requests.length;
    };
    expect(await count(() => patch({ metadata: { labels: {} } }))).toBe(1);
    expect(await count(() => patch({ metadata: { resourceVersion: null } }))).toBe(1);
    expect(await count(() => patch({ metadata: { resourceVersion: "7" } }))).toBe(2);
    expect(await count(() => client.delete(NODES, path, {}, never))).toBe(1);
    expect(await count(() => client.delete(NODES, path, { uid: "u" }, never))).toBe(2);
    expect(await count(() => client.create(NODES, {}, {}, never))).toBe(1);
    // Nothing is stored of a review.
    const reviews = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      plural: "tokenreviews",
      namespaced: false,
    };
    expect(await count(() => client.create(reviews, {}, {}, never))).toBe(2);
    const replace = (metadata: Node["metadata"]) =>
      client.replace(NODES, path, { metadata }, never);
    expect(await count(() => replace({ name: "a" }))).toBe(1);
    expect(await count(() => replace({ name: "a", resourceVersion: "7" }))).toBe(2);
  });
});

describe("createKubeClient() for a component", () => {
  test("says so in its name, and counts with the metrics of another", async () => {
    const metrics = new MetricsRegistry();
    const shared = createRequestMetrics(metrics);
    const options = { metrics: shared, component: "leader-election" };
    const { client, asked } = await startBench(() => Response.json({}), options);
    await client.get("/x", never);
    expect(asked[0]?.headers.get("user-agent")).toEndWith(" kubernetes/leader-election");
    expect(metrics.render()).toContain('rest_client_requests_total{code="200"');
  });
});

describe("createKubeClient().watch()", () => {
  test("asks for bookmarks, and yields events until the server ends the stream", async () => {
    const lines = ["ADDED", "BOOKMARK", "ERROR"].map((type) => ({ type, object: {} }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const { client, asked } = await startBench(() => new Response(text));
    const types: string[] = [];
    await collect(client.watch(NODES, WATCH, never), types);
    expect(types).toEqual(["ADDED", "BOOKMARK", "ERROR"]);
    expect(asked[0]?.path).toBe(
      "/api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300",
    );
  });

  test("closes the connection when the iteration is left early", async () => {
    const { reply, cancelled } = createStream([{ type: "ADDED", object: {} }]);
    const clock = new ManualClock();
    const { client } = await startBench(() => reply, { clock });
    for await (const event of client.watch(NODES, WATCH, never)) {
      expect(event.type).toBe("ADDED");
      break;
    }
    await cancelled;
    expect(clock.pending).toBe(0);
  });

  test("ends with the reason of its signal, and closes the connection", async () => {
    const { reply, cancelled } = createStream([{ type: "ADDED", object: {} }]);
    const { client } = await startBench(() => reply);
    const stop = new AbortController();
    const watching = (async () => {
      for await (const event of client.watch(NODES, WATCH, stop.signal)) {
        expect(event.type).toBe("ADDED");
        setImmediate(() => stop.abort(new Error("stop")));
      }
    })();
    await expect(watching).rejects.toThrow("stop");
    await cancelled;
  });

  test("yields nothing more once its signal has aborted", async () => {
    const event = { type: "ADDED", object: {} };
    const { client } = await startBench(() => createStream([event, event]).reply);
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { type } of client.watch(NODES, WATCH, stop.signal)) {
        seen.push(type);
        stop.abort(new Error("stop"));
      }
    })();
    await expect(watching).rejects.toThrow("stop");
    expect(seen).toEqual(["ADDED"]);
  });

  test("I-06 hangs up on a peer that is silent for 30 s more than the stream should last", async () => {
    const { reply, cancelled } = createStream([{ type: "ADDED", object: {} }]);
    const clock = new ManualClock();
    const { client } = await startBench(() => reply, { clock });
    const iterator = client.watch(NODES, WATCH, never)[Symbol.asyncIterator]();
    await iterator.next();
    const next = iterator.next().catch((error: unknown) => error);
    await clock.advance(329_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await next).toMatchObject({
      kind: "unavailable",
      message: 'Cannot watch "/api/v1/nodes": the server did not end the watch in time',
    });
    await cancelled;
  });

  test("does not wait for ever for the head of an answer", async () => {
    const clock = new ManualClock();
    const reached = Promise.withResolvers<void>();
    const { client } = await startBench(
      () => {
        reached.resolve();
        return new Promise(() => {});
      },
      { clock },
    );
    const watching = collect(client.watch(NODES, WATCH, never), []).catch(
      (error: unknown) => error,
    );
    await reached.promise;
    await clock.advance(30_000);
    expect(await watching).toMatchObject({ kind: "unavailable" });
  });
});

describe("createKubeClient() over connections that fall silent", () => {
  /** A client with as many idle connections, which pass nothing any more. @param open What is open then, too */
  async function startSilent(
    idle: number,
    open: (client: KubeClient) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<{
    client: KubeClient;
    clock: ManualClock;
    proxy: TcpProxy;
    told: RecoveryNews[];
    /** Resolves once as many requests were sent since the silence. */
    untilSent: (count: number) => Promise<unknown>;
  }> {
    let isHeld = true;
    const waiting: (() => void)[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async ({ url }) => {
        if (url.includes("watch=1")) return createStream([{ type: "ADDED", object: {} }]).reply;
        // Requests that wait for each other each need a connection.
        if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
        return Response.json(NODE_A);
      },
    });
    closers.push(() => server.stop(true));
    const proxy = await startTcpProxy(server.port ?? 0);
    closers.push(() => proxy.stop());
    const url = `http://127.0.0.1:${proxy.port}`;
    const real = createTransport(url);
    let sent = 0;
    const transport: Transport = {
      host: real.host,
      get generation(): number {
        return real.generation;
      },
      giveUp: (generation) => real.giveUp(generation),
      close: () => real.close(),
      send: (...args) => {
        sent += 1;
        return real.send(...args);
      },
    };
    const clock = new ManualClock();
    const recovery = new Recovery();
    const told: RecoveryNews[] = [];
    recovery.subscribe((news) => told.push(news));
    const { client } = await openClient(url, { clock, recovery, transport });
    const reads = Array.from({ length: idle }, () => client.read(NODES, { name: "a" }, never));
    await until("all requests are under way", () => waiting.length === idle);
    isHeld = false;
    for (const answer of waiting) answer();
    await Promise.all(reads);
    await open(client);
    proxy.silence();
    sent = 0;
    return {
      client,
      clock,
      proxy,
      told,
      untilSent: (count) => until("sent", () => sent === count),
    };
  }

  test("a request without a byte of an answer is the last one that goes over an old one", async () => {
    const { client, clock, proxy, told, untilSent } = await startSilent(4);
    const lost = [1, 2].map(() =>
      client.read(NODES, { name: "a" }, never).catch((error: unknown) => error),
    );
    await untilSent(2);
    await clock.advance(30_000);
    for (const error of await Promise.all(lost))
      expect(error).toMatchObject({ kind: "unavailable" });
    expect([proxy.accepted, told]).toEqual([4, []]);
    for (let more = 0; more < 3; more += 1) await client.read(NODES, { name: "a" }, never);
    // Told once, and one new connection is enough.
    expect([proxy.accepted, told]).toEqual([5, ["reconnected"]]);
  });

  test("a watch that is not answered gives up all of them", async () => {
    const { client, clock, proxy, untilSent } = await startSilent(2);
    const watching = client.watch(NODES, WATCH, never)[Symbol.asyncIterator]().next();
    watching.catch(() => undefined);
    await untilSent(1);
    await clock.advance(30_000);
    await expect(watching).rejects.toMatchObject({ kind: "unavailable" });
    await client.read(NODES, { name: "a" }, never);
    expect(proxy.accepted).toBe(3);
  });

  test.each([
    ["a time-out gives up all of them", new DOMException("silent", "TimeoutError"), 3],
    ["anything else does not", new Error("stop"), 2],
  ])("a watch that its signal ends with %s", async (_what, reason, accepted) => {
    const stop = new AbortController();
    let watch: AsyncIterator<WatchEvent> | undefined;
    const { client, proxy } = await startSilent(2, async (client) => {
      watch = client.watch(NODES, WATCH, stop.signal)[Symbol.asyncIterator]();
      expect(await watch.next()).toMatchObject({ value: { type: "ADDED" } });
    });
    const watching = watch?.next();
    watching?.catch(() => undefined);
    stop.abort(reason);
    await expect(watching).rejects.toBe(reason);
    proxy.resume();
    await client.read(NODES, { name: "a" }, never);
    expect(proxy.accepted).toBe(accepted);
  });

  test("what its caller ends says nothing about connections", async () => {
    const { client, proxy, told, untilSent } = await startSilent(2);
    const stop = new AbortController();
    const reading = client.read(NODES, { name: "a" }, stop.signal);
    reading.catch(() => undefined);
    await untilSent(1);
    stop.abort(new Error("stop"));
    await expect(reading).rejects.toThrow("stop");
    proxy.resume();
    await client.read(NODES, { name: "a" }, never);
    expect([proxy.accepted, told]).toEqual([2, []]);
  });
});

describe("createKubeClient() without credentials", () => {
  test("says which file is wrong when there are no credentials any more, without the token", async () => {
    const clock = new ManualClock();
    const server = "https://127.0.0.1:1";
    const current = (): Promise<never> => Promise.reject(new Error("/t: the token is empty"));
    const credentials = { server, current, invalidate: () => {} };
    const metrics = new MetricsRegistry();
    const client = createKubeClient({ credentials, clock, metrics, version: "1" });
    await expect(client.get("/x", never)).rejects.toMatchObject({
      kind: "unauthorized",
      message: 'Cannot read "/x": no credentials: /t: the token is empty',
    });
  });

  test("blames no server for credentials that do not come", async () => {
    const clock = new ManualClock();
    const current = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        const end = (): void => reject(signal.reason);
        if (signal.aborted) end();
        signal.addEventListener("abort", end, { once: true });
      });
    const credentials = { server: "https://127.0.0.1:1", current, invalidate: () => {} };
    const metrics = new MetricsRegistry();
    const client = createKubeClient({ credentials, clock, metrics, version: "1" });
    const told = client.get("/x", never).catch((error: unknown) => error);
    const stop = new AbortController();
    const stopped = client.get("/x", stop.signal);
    stop.abort(new Error("stop"));
    await expect(stopped).rejects.toThrow("stop");
    await clock.advance(60_000);
    expect(await told).toMatchObject({
      kind: "unauthorized",
      message: 'Cannot read "/x": no credentials: the source of the credentials takes too long',
    });
  });
});
