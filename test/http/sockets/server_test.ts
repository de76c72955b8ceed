/**
 * The HTTP server, over real sockets.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../lib/core/clock.ts";
import { ConfigError } from "../../../lib/core/errors.ts";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";
import {
  type Handler,
  type HttpServer,
  startHttpServer,
} from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { openRaw, type RawConnection } from "../../support/net/raw_http.ts";

const ANY_PORT: ListenAddress = { kind: "tcp", host: "127.0.0.1", port: 0 };
const HELLO: Handler = { fetch: () => new Response("hello") };

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-http-"));
});
afterAll(() => rm(folder, { recursive: true }));

const lines: string[] = [];
function start(
  address: ListenAddress,
  handler: Handler = HELLO,
  clock = systemClock,
  flags: { readonly flag: string; readonly hostFlag?: string } = { flag: "--debug-address" },
): Promise<HttpServer> {
  return startHttpServer({
    address,
    handler,
    clock,
    ...flags,
    log: createLogger({ format: "text", write: (line) => lines.push(line), now: () => 0 }),
    signal: AbortSignal.timeout(10_000),
  });
}

function toUrl({ address }: HttpServer, path = "/"): string {
  return address.kind === "tcp" ? `http://127.0.0.1:${address.port}${path}` : "";
}

async function findProblem(address: ListenAddress): Promise<string> {
  const error = await fail(address);
  if (error instanceof ConfigError) return error.message;
  throw error;
}

/** What ends the program with code 1, for which a service manager starts it again. */
async function findPassingProblem(address: ListenAddress): Promise<string> {
  const error = await fail(address);
  if (error instanceof Error && !(error instanceof ConfigError)) return error.message;
  throw error;
}

async function fail(address: ListenAddress): Promise<unknown> {
  try {
    await (await start(address)).stop(0);
  } catch (error) {
    return error;
  }
  throw new Error("It listens");
}

describe("startHttpServer()", () => {
  test("startHttpServer() serves on a port that the system chose, and stops", async () => {
    const server = await start(ANY_PORT);
    expect(await (await fetch(toUrl(server))).text()).toBe("hello");
    await server.stop(1_000);
    await expect(fetch(toUrl(server))).rejects.toThrow();
  });

  test("startHttpServer() keeps to fewer connections where there is little room, and still answers", async () => {
    const server = await startHttpServer({
      address: ANY_PORT,
      connectionsMax: 3,
      handler: HELLO,
      clock: systemClock,
      flag: "--debug-address",
      log: silentLogger,
      signal: AbortSignal.timeout(10_000),
    });
    if (server.address.kind !== "tcp") throw new Error("Cannot test: no port");
    const held: RawConnection[] = [];
    for (let at = 0; at < 8; at += 1) held.push(await openRaw({ port: server.address.port }));
    expect(await (await fetch(toUrl(server), { keepalive: false })).text()).toBe("hello");
    await Promise.all(held.slice(0, 6).map(({ closed }) => closed));
    expect(held.filter(({ socket }) => !socket.destroyed).length).toBeLessThanOrEqual(3);
    await server.stop(0);
  });

  test("startHttpServer() refuses other hosts and methods", async () => {
    const server = await start(ANY_PORT);
    const headers = { host: "evil.example.com" };
    expect((await fetch(toUrl(server), { headers })).status).toBe(421);
    expect((await fetch(toUrl(server), { method: "POST", body: "x" })).status).toBe(405);
    await server.stop(1_000);
  });

  test.each<[given: string, type: string, headers: Record<string, string>]>([
    ["no type", "text/plain; charset=utf-8", {}],
    ["a type", "application/json", { "content-type": "application/json" }],
  ])(
    "startHttpServer() lets no browser guess what a text with %s is",
    async (_given, type, headers) => {
      const server = await start(ANY_PORT, { fetch: () => new Response("<script>", { headers }) });
      const answer = await fetch(toUrl(server));
      expect(answer.headers.get("content-type")).toBe(type);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      await server.stop(1_000);
    },
  );

  test("startHttpServer() names the flag of a port that is in use, which may pass", async () => {
    const server = await start(ANY_PORT);
    const shown = toUrl(server, "").slice("http://".length);
    expect(await findPassingProblem(server.address)).toBe(
      `--debug-address: Cannot listen at ${shown}: another process uses it; ` +
        "stop that process, or set --debug-address to another port",
    );
    await server.stop(1_000);
  });

  test("startHttpServer() serves on a unix socket of its owner, and removes it", async () => {
    const path = join(folder, "a.sock");
    const server = await start({ kind: "unix", path });
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await (await fetch("http://anything/", { unix: path })).text()).toBe("hello");
    expect(await findPassingProblem({ kind: "unix", path })).toBe(
      `--debug-address: Cannot listen at unix:${path}: another process uses it; ` +
        "stop that process, or set --debug-address to another path",
    );
    expect(await (await fetch("http://anything/", { unix: path })).text()).toBe("hello");
    await server.stop(1_000);
    expect(existsSync(path)).toBe(false);
  });

  test("startHttpServer() names the flag of the host where the host is wrong", async () => {
    const flags = { flag: "--secure-port", hostFlag: "--bind-address" };
    const there = (host: string, port: number) =>
      start({ kind: "tcp", host, port }, HELLO, systemClock, flags);
    await expect(there("192.0.2.1", 0)).rejects.toThrow(
      "--bind-address: Cannot listen at 192.0.2.1:0",
    );
    const server = await start({ kind: "tcp", host: "127.0.0.1", port: 0 });
    const port = server.address.kind === "tcp" ? server.address.port : 0;
    await expect(there("127.0.0.1", port)).rejects.toThrow(
      `--secure-port: Cannot listen at 127.0.0.1:${port}`,
    );
    await server.stop(0);
  });

  test("startHttpServer() says why a socket cannot be made", async () => {
    const file = join(folder, "file");
    await writeFile(file, "x");
    expect(await findProblem({ kind: "unix", path: file })).toEndWith(
      "the path exists and is not a socket",
    );
    expect(await findProblem({ kind: "unix", path: join(folder, "no", "x") })).toEndWith(
      "the folder does not exist",
    );
    expect(await findPassingProblem({ kind: "tcp", host: "192.0.2.1", port: 0 })).toEndWith(
      "this machine has no such address",
    );
  });

  test("startHttpServer() logs a handler that throws and answers 500", async () => {
    const server = await start(ANY_PORT, { fetch: () => Promise.reject(new Error("bug")) });
    const response = await fetch(toUrl(server, "/debug/nodes"));
    expect([response.status, await response.text()]).toEqual([500, "internal server error\n"]);
    expect(lines.join("")).toContain("page failed path=/debug/nodes error=bug");
    await server.stop(1_000);
  });

  test("startHttpServer() answers 503 to more than 64 requests at once", async () => {
    const gate = Promise.withResolvers<void>();
    const handler: Handler = { fetch: () => gate.promise.then(() => new Response("hello")) };
    const server = await start(ANY_PORT, handler);
    const early = Promise.withResolvers<void>();
    const answers = Array.from({ length: 70 }, async () => {
      const { status } = await fetch(toUrl(server));
      if (status === 503) early.resolve();
      return status;
    });
    await early.promise;
    gate.resolve();
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(64);
    await server.stop(1_000);
  });
});

describe("HttpServer.stop()", () => {
  test("HttpServer.stop() lets a running answer finish", async () => {
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const handler: Handler = {
      fetch: () => {
        asked.resolve();
        return gate.promise.then(() => new Response("late"));
      },
    };
    const server = await start(ANY_PORT, handler);
    const answer = fetch(toUrl(server));
    await asked.promise;
    const stopped = server.stop(5_000);
    gate.resolve();
    expect(await (await answer).text()).toBe("late");
    await stopped;
  });

  test("HttpServer.stop() cuts off an answer that takes too long", async () => {
    const asked = Promise.withResolvers<void>();
    const clock = new ManualClock();
    const never: Handler = {
      fetch: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    };
    const server = await start(ANY_PORT, never, clock);
    const answer = fetch(toUrl(server)).then(
      () => "answered",
      () => "cut off",
    );
    await asked.promise;
    const stopped = server.stop(5_000);
    await clock.advance(5_000);
    await stopped;
    expect(await answer).toBe("cut off");
  });
});
