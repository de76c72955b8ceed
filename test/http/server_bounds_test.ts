/**
 * What the HTTP server refuses, over real sockets: of all kinds of listeners.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { createLogger } from "../../lib/core/log.ts";
import { makeSelfSigned } from "../../lib/http/certificate/self_signed.ts";
import { type Handler, type HttpServer, startHttpServer } from "../../lib/http/sockets/server.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { askRaw, openRaw, type RawConnection, type RawPlace } from "../support/net/raw_http.ts";

const GET = "GET /page HTTP/1.1\r\nHost: localhost\r\n";
const log = createLogger({ format: "text", write: () => {}, now: () => 0 });
const keyPair = makeSelfSigned(["localhost"], Date.UTC(2026, 0, 1));

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-bounds-"));
});
afterAll(() => rm(folder, { recursive: true }));

type Kind = "loopback" | "unix socket" | "HTTPS";
const KINDS: readonly Kind[] = ["loopback", "unix socket", "HTTPS"];

class Rig implements AsyncDisposable {
  readonly server: HttpServer;
  readonly clock: ManualClock;
  readonly place: RawPlace;

  private constructor(kind: Kind, server: HttpServer, clock: ManualClock) {
    this.server = server;
    this.clock = clock;
    const { address } = server;
    this.place =
      address.kind === "unix"
        ? { path: address.path }
        : { port: address.port, isTls: kind === "HTTPS" };
  }

  static async start(kind: Kind, handler: Handler = { fetch: echo }): Promise<Rig> {
    const clock = new ManualClock();
    const address =
      kind === "unix socket"
        ? { kind: "unix" as const, path: join(folder, `${crypto.randomUUID()}.sock`) }
        : { kind: "tcp" as const, host: kind === "HTTPS" ? "0.0.0.0" : "127.0.0.1", port: 0 };
    const signal = AbortSignal.timeout(10_000);
    const base = { address, handler, flag: "--x", clock, log, signal };
    const server = await startHttpServer(kind === "HTTPS" ? { ...base, keyPair } : base);
    return new Rig(kind, server, clock);
  }

  /** Moves time on until the connection is closed. On a busy machine the server may have seen it late. */
  async untilClosed(connection: RawConnection): Promise<void> {
    for (let second = 0; second < 60 && !connection.socket.closed; second += 1) {
      await arrive();
      await this.clock.advance(1_000);
    }
    await connection.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(0);
  }
}

function echo(request: Request): Response {
  return new Response(`${request.method} ${new URL(request.url).pathname}\n`);
}

/** Lets the server see what was sent. */
async function arrive(): Promise<void> {
  await Bun.sleep(30);
}

describe.each(KINDS.map((kind) => [kind] as const))("the listener at %s", (kind) => {
  test.each<[title: string, text: string, status: number]>([
    ["a header of 17 KiB", `${GET}X: ${"a".repeat(17_000)}\r\n\r\n`, 431],
    ["a path of 17 KiB", `GET /${"a".repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
    ["ten thousand headers", `${GET}${"a: b\r\n".repeat(10_000)}\r\n`, 431],
    ["a method that changes things", "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405],
    ["a body", `${GET}Content-Length: 5\r\n\r\nhello`, 413],
    ["a body announced and never sent", `${GET}Content-Length: 99999999999\r\n\r\n`, 413],
    ["a body in chunks", `${GET}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 413],
    [
      "a body that waits to be asked for",
      `${GET}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
      413,
    ],
    ["two lengths of a body", `${GET}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    ["two hosts", `${GET}Host: evil.example\r\n\r\n`, 400],
    [
      "an address in place of a path",
      "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
      400,
    ],
    ["what is not HTTP", "\u0016\u0003\u0001hello\r\n\r\n", 400],
    ["HTTP/0.9", "GET /page HTTP/0.9\r\nHost: localhost\r\n\r\n", 505],
    ["HTTP/2 without its frames", "GET /page HTTP/2.0\r\nHost: localhost\r\n\r\n", 505],
    ["what it cannot expect", `${GET}Expect: a miracle\r\n\r\n`, 417],
    ["two tokens", `${GET}Authorization: a\r\nAuthorization: b\r\n\r\n`, 400],
    ["no path", "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    ["a host that moves the path", "GET / HTTP/1.1\r\nHost: localhost/healthz?\r\n\r\n", 400],
    ["a host with a user", "GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n", 400],
  ])("refuses %s and closes the connection", async (_title, text, status) => {
    await using rig = await Rig.start(kind);
    const { statuses, closed } = await askRaw(rig.place, text);
    expect(statuses).toEqual([status]);
    await closed;
  });

  test("takes a path that begins with two slashes for a path", async () => {
    await using rig = await Rig.start(kind);
    const { received } = await askRaw(rig.place, `${GET}\r\n`.replace("/page", "//evil/page"));
    expect(received).toContain("GET //evil/page\n");
  });

  test("answers one request after another on a connection, and closes it after 30 s of rest", async () => {
    await using rig = await Rig.start(kind);
    const connection = await openRaw(rig.place);
    for (const count of [1, 2, 3]) {
      connection.send(`${GET}\r\n`);
      await connection.untilAnswers(count);
    }
    expect(connection.received).toContain("GET /page");
    await arrive();
    await rig.clock.advance(29_000);
    expect(connection.socket.destroyed).toBe(false);
    await rig.clock.advance(1_000);
    await rig.untilClosed(connection);
  });

  test.each<[title: string, text: string]>([
    ["says nothing", ""],
    ["stops in the middle of a head", "GET /page HT"],
  ])("cuts off after 10 s who %s", async (_title, text) => {
    await using rig = await Rig.start(kind);
    const connection = await openRaw(rig.place);
    if (text !== "") connection.send(text);
    await arrive();
    await rig.clock.advance(9_900);
    expect(connection.socket.destroyed).toBe(false);
    await rig.clock.advance(100);
    await rig.untilClosed(connection);
    expect(connection.statuses).toEqual([]);
  });

  test("cuts off after 10 s who sends a head header by header", async () => {
    await using rig = await Rig.start(kind);
    const connection = await openRaw(rig.place);
    connection.send(GET);
    for (let second = 1; second <= 10; second += 1) {
      connection.send(`X-${second}: a\r\n`);
      await arrive();
      await rig.clock.advance(1_000);
    }
    await rig.untilClosed(connection);
    expect(connection.statuses).toEqual([]);
  });

  test("cuts off after 30 s who does not take an answer", async () => {
    const big = { fetch: () => new Response("a".repeat(64 * 1024 * 1024)) };
    await using rig = await Rig.start(kind, big);
    const connection = await openRaw(rig.place);
    connection.socket.pause();
    connection.send(`${GET}\r\n`);
    await arrive();
    await rig.clock.advance(30_000);
    connection.socket.resume();
    await rig.untilClosed(connection);
    expect(connection.received.length).toBeLessThan(64 * 1024 * 1024);
  });

  test("answers at most eight of the requests that are sent ahead of answers", async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const slow: Handler = {
      fetch: async (request) => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
        return echo(request);
      },
    };
    await using rig = await Rig.start(kind, slow);
    const connection = await openRaw(rig.place);
    connection.send(`${GET}\r\n`.repeat(50));
    await arrive();
    gate.resolve();
    await connection.closed;
    expect(most).toBe(8);
    expect(connection.statuses.slice(0, 9)).toEqual([...Array.from({ length: 8 }, () => 200), 503]);
  });

  test("answers what came before rubbish, and gives the rubbish no answer that could be taken for theirs", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = async (request: Request): Promise<Response> => (await gate.promise, echo(request));
    await using rig = await Rig.start(kind, { fetch: slow });
    const connection = await openRaw(rig.place);
    connection.send(`${GET}\r\n`.repeat(2));
    connection.send("what is this\r\n\r\n");
    await arrive();
    gate.resolve();
    await connection.closed;
    expect(connection.statuses).toEqual([200, 200]);
  });

  test.each<[offer: string, head: string]>([
    ["another protocol", `${GET}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
    ["a tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("closes the connection after the offer of %s", async (_offer, head) => {
    await using rig = await Rig.start(kind);
    const { closed, statuses, received } = await askRaw(rig.place, head);
    await closed;
    expect(received).toMatch(/^connection: close\r$/im);
    expect(statuses).toEqual([head.startsWith("GET") ? 200 : 405]);
  });

  test("lets a probe through while somebody holds open all connections that there may be", async () => {
    await using rig = await Rig.start(kind);
    const held: RawConnection[] = [];
    for (let count = 0; count < 140; count += 1) held.push(await openRaw(rig.place));
    const probe = await askRaw(rig.place, `${GET}\r\n`);
    expect(probe.statuses).toEqual([200]);
    await arrive();
    // 128 at most, the probe among them; those that said nothing for longest had to go.
    expect(held.filter(({ socket }) => socket.destroyed).length).toBe(13);
    expect(held.slice(0, 13).every(({ socket }) => socket.destroyed)).toBe(true);
    probe.socket.destroy();
    for (const { socket } of held) socket.destroy();
  });
});

describe("the listener at loopback", () => {
  test.each([
    ["127.0.0.1:10260", 200],
    ["LocalHost:1", 200],
    ["[::1]:1", 200],
    ["[::1]", 200],
    ["evil.example.com", 421],
    ["127.0.0.1.example.com:80", 421],
    ["", 400],
  ])("gives a request to the host %p the status %d", async (host, status) => {
    await using rig = await Rig.start("loopback");
    const { statuses, socket } = await askRaw(rig.place, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(statuses).toEqual([status]);
    socket.destroy();
  });
});

describe("the HTTPS listener", () => {
  const shake = (rig: Rig, options: ConnectionOptions = {}): Promise<TLSSocket | string> =>
    new Promise((resolve) => {
      const port = "port" in rig.place ? rig.place.port : 0;
      const place = { port, host: "127.0.0.1", rejectUnauthorized: false };
      const socket = connectTls({ ...place, ...options }, () => resolve(socket));
      socket.on("error", (error) => resolve("code" in error ? String(error.code) : error.name));
    });

  test("speaks TLS 1.2 and 1.3, and nothing older", async () => {
    await using rig = await Rig.start("HTTPS");
    const protocols: string[] = [];
    for (const version of ["TLSv1.3", "TLSv1.2", "TLSv1.1"] as const) {
      const socket = await shake(rig, { minVersion: version, maxVersion: version });
      protocols.push(typeof socket === "string" ? socket : (socket.getProtocol() ?? ""));
      if (typeof socket !== "string") socket.destroy();
    }
    expect(protocols.slice(0, 2)).toEqual(["TLSv1.3", "TLSv1.2"]);
    expect(protocols[2]).toMatch(/^ERR_SSL/);
  });

  test("cuts off after 10 s who does not get on with the handshake, and who speaks plain HTTP at once", async () => {
    await using rig = await Rig.start("HTTPS");
    const plain = "port" in rig.place ? { port: rig.place.port } : rig.place;
    const { received, closed } = await askRaw(plain, `${GET}\r\n`);
    await closed;
    expect(received).toBe("");
    const silent = await openRaw(plain);
    const begun = await openRaw(plain);
    begun.send("\u0016\u0003\u0001");
    await arrive();
    await rig.clock.advance(10_000);
    await rig.untilClosed(silent);
    await rig.untilClosed(begun);
  });

  test("takes any Host header: it has no name of its own", async () => {
    await using rig = await Rig.start("HTTPS");
    const { statuses } = await askRaw(rig.place, "GET / HTTP/1.1\r\nHost: 10.1.2.3:10258\r\n\r\n");
    expect(statuses).toEqual([200]);
  });

  test("shows a new certificate to new connections, while old ones go on", async () => {
    await using rig = await Rig.start("HTTPS");
    const old = await openRaw(rig.place);
    const findSerial = async (): Promise<string> => {
      const socket = await shake(rig);
      if (typeof socket === "string") return socket;
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const before = await findSerial();
    rig.server.useKeyPair(makeSelfSigned(["localhost"], Date.UTC(2026, 0, 1)));
    const after = await findSerial();
    expect(after).toMatch(/^[0-9A-F]{32}$/);
    expect(after).not.toBe(before);
    old.send(`${GET}\r\n`);
    await old.untilAnswers(1);
    expect(old.statuses).toEqual([200]);
    const socket = await shake(rig, { minVersion: "TLSv1.1", maxVersion: "TLSv1.1" });
    expect(typeof socket).toBe("string");
    old.socket.destroy();
  });
});
