/**
 * Credentials that change under a client at work: files of a mounted Secret, on a server with TLS.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { runWatcher } from "../../../lib/kube/cache/watcher.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";
import { readTls, type TlsFixture } from "../../support/net/tls_fixtures.ts";

const signal = new AbortController().signal;
const CANARY = "canary-of-a-token";

type Identity = "server" | "other_server";

/** A watch that is open at the server. */
interface OpenWatch {
  send(resourceVersion: string): void;
  end(): void;
}

/** An API server with one Node, behind an address that stays while its certificate changes. */
class FakeApiServer implements AsyncDisposable {
  readonly tokens = new Set<string>([CANARY]);
  /** Each request that was accepted, and by which face of the server. */
  readonly seen: { readonly token: string; readonly by: Identity; readonly method: string }[] = [];
  readonly watches = new Set<OpenWatch>();
  refused = 0;
  readonly #faces: Readonly<Record<Identity, Bun.Server<undefined>>>;
  #proxy: TcpProxy | undefined;

  /** @param asksClient Whether each face wants a client certificate of the authority that signed its own */
  constructor(asksClient: boolean) {
    const start = (by: Identity, ca: TlsFixture): Bun.Server<undefined> =>
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        tls: {
          cert: readTls(`${by}.crt`),
          key: readTls(`${by}.key`),
          ...(asksClient && { ca: readTls(ca), requestCert: true, rejectUnauthorized: true }),
        },
        fetch: (request) => this.#answer(request, by),
      });
    this.#faces = {
      server: start("server", "ca.crt"),
      other_server: start("other_server", "other_ca.crt"),
    };
  }

  async listen(): Promise<string> {
    this.#proxy = await startTcpProxy(this.#faces.server.port ?? 0);
    return `https://127.0.0.1:${this.#proxy.port}`;
  }

  /** New connections see another certificate; those that are open stay, unless they are cut. */
  showOther(options: { readonly isCut: boolean }): void {
    this.#proxy?.aim(this.#faces.other_server.port ?? 0);
    if (options.isCut) this.#proxy?.cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.stop();
    for (const face of Object.values(this.#faces)) await face.stop(true);
  }

  #answer(request: Request, by: Identity): Response {
    const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
    if (!this.tokens.has(token)) {
      this.refused += 1;
      const status = { kind: "Status", code: 401, reason: "Unauthorized" };
      return Response.json(status, { status: 401 });
    }
    this.seen.push({ token, by, method: request.method });
    if (request.url.includes("watch=")) return new Response(this.#openWatch());
    const list = { kind: "NodeList", metadata: { resourceVersion: "6" }, items: [toNode("6")] };
    if (request.method === "POST") return Response.json(EVENT, { status: 201 });
    return Response.json(request.url.includes("/nodes/a") ? toNode("6") : list);
  }

  #openWatch(): ReadableStream {
    const encoder = new TextEncoder();
    let watch: OpenWatch | undefined;
    return new ReadableStream({
      start: (stream) => {
        watch = {
          send: (version) => {
            const event = JSON.stringify({ type: "MODIFIED", object: toNode(version) });
            stream.enqueue(encoder.encode(`${event}\n`));
          },
          end: () => stream.close(),
        };
        watch.send("7");
        this.watches.add(watch);
      },
      cancel: () => {
        if (watch) this.watches.delete(watch);
      },
    });
  }

  /** Ends all watches, as the API server does now and then. */
  endWatches(): void {
    for (const watch of this.watches) watch.end();
    this.watches.clear();
  }
}

let server: FakeApiServer;
let url: string;
let mount: SecretMount;
let clock: ManualClock;
let client: KubeClient;
let lines: string[];

/** @param user What the kubeconfig says of the user, paths relative to the mounted folder */
async function open(user: object, options = { asksClient: false }): Promise<void> {
  server = new FakeApiServer(options.asksClient);
  url = await server.listen();
  const cluster = { server: url, "certificate-authority": "ca.crt" };
  const kubeconfig = JSON.stringify({
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
  });
  mount.update({ kubeconfig });
  const write = (line: string): number => lines.push(line);
  const credentials = await loadCredentials({
    kubeconfig: mount.path("kubeconfig"),
    env: {},
    clock,
    log: createLogger({ format: "json", level: "debug", now: () => 0, write }),
  });
  client = createKubeClient({ credentials, clock, metrics: new MetricsRegistry(), version: "0" });
}

const read = (): Promise<Node> => client.read(NODES, { name: "a" }, signal);

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  mount = new SecretMount({ "ca.crt": readTls("ca.crt"), token: `${CANARY}\n` });
});
afterEach(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
  mount[Symbol.dispose]();
  expect(lines.join("")).not.toContain("canary");
});

describe("a token in a mounted Secret", () => {
  test("is in use within a minute of its change, without a refused request", async () => {
    await open({ tokenFile: "token" });
    await read();
    server.tokens.add("canary-2");
    mount.update({ token: "canary-2" });
    await clock.advance(59_999);
    await read();
    expect(server.seen.map(({ token }) => token)).toEqual([CANARY, "canary-2"]);
    expect(server.refused).toBe(0);
  });

  test("is read at once when the old one is refused, also by a write that is sent once only", async () => {
    await open({ tokenFile: "token" });
    await read();
    server.tokens.clear();
    server.tokens.add("canary-2");
    mount.update({ token: "canary-2" });
    await client.create(EVENTS, { namespace: "default" }, EVENT, signal);
    expect(server.seen.at(-1)).toEqual({ token: "canary-2", by: "server", method: "POST" });
  });

  test("leaves a watch open that the old one opened, and opens the next with the new one", async () => {
    await open({ tokenFile: "token" });
    await watchWhile(async (versions) => {
      server.tokens.add("canary-2");
      mount.update({ token: "canary-2", "ca.crt": both() });
      await clock.advance(30_000);
      // The authorities changed too: this request opens a connection of its own.
      await read();
      expect(server.seen.at(-1)?.token).toBe("canary-2");
      const [watch] = server.watches;
      watch?.send("8");
      await until("the old watch says more", () => versions().includes("8"));
      server.tokens.delete(CANARY);
      server.endWatches();
      await untilAdvancing(() => server.watches.size > 0);
      expect(server.seen.at(-1)?.token).toBe("canary-2");
      expect(server.refused).toBe(0);
    });
  });

  test("brings a watch back that was refused for a while, whenever it comes", async () => {
    await open({ tokenFile: "token" });
    await watchWhile(async (versions) => {
      server.tokens.clear();
      server.tokens.add("canary-2");
      server.endWatches();
      await untilAdvancing(() => server.refused >= 4);
      mount.update({ token: "canary-2" });
      await untilAdvancing(() => server.watches.size > 0);
      const [watch] = server.watches;
      watch?.send("9");
      await until("the new watch says more", () => versions().includes("9"));
    });
  });
});

describe("an authority in a mounted Secret", () => {
  test("is in use within a minute of its change, while old connections live", async () => {
    await open({ tokenFile: "token" });
    await read();
    server.showOther({ isCut: false });
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    await read();
    await clock.advance(59_999);
    await read();
    expect(server.seen.map(({ by }) => by)).toEqual(["server", "server", "other_server"]);
  });

  test("is read at once when the server shows another certificate, and nothing fails", async () => {
    await open({ tokenFile: "token" });
    await read();
    server.showOther({ isCut: true });
    mount.update({ "ca.crt": readTls("other_ca.crt") });
    await client.create(EVENTS, { namespace: "default" }, EVENT, signal);
    expect(server.seen.map(({ by }) => by)).toEqual(["server", "other_server"]);
  });

  test("stays as it was when the new one is broken, which is told with its file", async () => {
    await open({ tokenFile: "token" });
    await read();
    mount.update({ "ca.crt": "canary, no certificate" });
    await clock.advance(30_000);
    await read();
    expect(server.seen).toHaveLength(2);
    expect(lines.join("")).toContain(mount.path("ca.crt"));
  });
});

describe("a client certificate in a mounted Secret", () => {
  const user = { "client-certificate": "tls.crt", "client-key": "tls.key", tokenFile: "token" };
  const old = { "tls.crt": readTls("client.crt"), "tls.key": readTls("client.key") };
  const next = { "tls.crt": readTls("other_server.crt"), "tls.key": readTls("other_server.key") };
  const faces = (): Identity[] => server.seen.map(({ by }) => by);
  beforeEach(() => mount.update({ ...old, "ca.crt": both() }));

  test("is in use within a minute of its change, with its key, while old connections live", async () => {
    await open(user, { asksClient: true });
    await read();
    server.showOther({ isCut: false });
    mount.update(next);
    await clock.advance(59_999);
    await read();
    expect(faces()).toEqual(["server", "other_server"]);
  });

  test("waits for its key, and is taken as soon as both fit", async () => {
    await open(user, { asksClient: true });
    await read();
    mount.update({ "tls.crt": next["tls.crt"] });
    await clock.advance(30_000);
    await read();
    expect(lines.join("")).toContain("does not belong to the client certificate");
    mount.update({ "tls.key": next["tls.key"] });
    server.showOther({ isCut: true });
    await clock.advance(10_000);
    await read();
    expect(faces()).toEqual(["server", "server", "other_server"]);
  });
});

describe("the kubeconfig in a mounted Secret", () => {
  test("is followed in all but the server's address, which may be another cluster's", async () => {
    await open({ token: CANARY });
    await read();
    server.tokens.add("canary-2");
    const text = (await Bun.file(mount.path("kubeconfig")).text()).replace(CANARY, "canary-2");
    mount.update({ kubeconfig: text });
    await clock.advance(30_000);
    await read();
    mount.update({ kubeconfig: text.replace(url, "https://127.0.0.1:1") });
    await clock.advance(30_000);
    await read();
    expect(server.seen.map(({ token }) => token)).toEqual([CANARY, "canary-2", "canary-2"]);
    expect(lines.join("")).toContain("restart Landfall to use it");
  });
});

const EVENT = { apiVersion: "v1", kind: "Event", metadata: { name: "e" } };

function toNode(resourceVersion: string): object {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "1", resourceVersion } };
}

function both(): string {
  return `${readTls("ca.crt")}${readTls("other_ca.crt")}`;
}

/** Runs a watcher, and `act` once it watches. `versions`: those of the Node that it saw. */
async function watchWhile(act: (versions: () => string[]) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const store = new Store<Node>({ resource: NODES, log: silentLogger });
  const seen: string[] = [];
  store.subscribe((_key, _before, after) => seen.push(after?.metadata.resourceVersion ?? ""));
  const options = { client, resource: NODES, store, clock, log: silentLogger };
  const running = runWatcher(options, stop.signal);
  try {
    // Not only that the server has it: time that goes on before the head has come ends a watch.
    await untilAdvancing(() => seen.includes("7"));
    await act(() => seen);
  } finally {
    stop.abort(new Error("the test is over"));
    await running;
  }
}

/** Lets time pass, so that pauses end, until `holds`. */
async function untilAdvancing(holds: () => boolean): Promise<void> {
  await until("it holds", async () => {
    if (holds()) return true;
    await clock.advance(1_000);
    return false;
  });
}
