/**
 * The sockets of an address, real ones where this machine has them.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ListenOptions, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";
import { clearSocketPath, listenAt } from "../../../lib/http/sockets/listening.ts";

/** A server on a machine that lacks some addresses, as the runtime tells it. */
class Lacking extends Server {
  readonly #errors: Readonly<Record<string, Error>>;

  constructor(errors: Readonly<Record<string, Error>>) {
    super();
    this.#errors = errors;
  }

  override listen(...args: unknown[]): this {
    const [options] = args as [ListenOptions];
    const error = this.#errors[options.host ?? ""];
    if (error === undefined) return super.listen(options);
    queueMicrotask(() => this.emit("error", error));
    return this;
  }
}

function toError(code: string): Error {
  return Object.assign(new Error("Failed to listen"), code === "" ? {} : { code });
}

describe("listenAt()", () => {
  const at = (host: string): ListenAddress => ({ kind: "tcp", host, port: 0 });

  const rows: readonly [string, string, Record<string, string>, readonly string[]][] = [
    ["everywhere on a kernel without IPv6", "::", { "::": "" }, ["0.0.0.0"]],
    ["everywhere where IPv6 is forbidden", "0.0.0.0", { "::": "EAFNOSUPPORT" }, ["0.0.0.0"]],
    ["everywhere, however IPv6 writes it", "0:0:0:0:0:0:0:0", { "::": "" }, ["0.0.0.0"]],
    ["everywhere, also as a mapped address", "::ffff:0.0.0.0", { "::": "" }, ["0.0.0.0"]],
    ["at one address, also as a mapped one", "::ffff:127.0.0.1", {}, ["127.0.0.1"]],
    ["at LocalHost in any case", "LocalHost", { "::1": "" }, ["127.0.0.1"]],
    ["at localhost on a kernel without IPv6", "localhost", { "::1": "" }, ["127.0.0.1"]],
    ["at localhost while lo lacks ::1", "localhost", { "::1": "EADDRNOTAVAIL" }, ["127.0.0.1"]],
  ];
  test.each(rows)("listenAt() listens %s", async (_title, host, codes, hosts) => {
    const errors = Object.fromEntries(
      Object.entries(codes).map(([host, code]) => [host, toError(code)]),
    );
    const { servers, address, addresses } = await listenAt(at(host), () => new Lacking(errors));
    expect(addresses.map((one) => one.kind === "tcp" && one.host)).toEqual([...hosts]);
    expect(address).toMatchObject({ kind: "tcp", host });
    for (const server of servers) server.close();
  });

  test.each([
    ["::", { "::": "EADDRINUSE" }, "EADDRINUSE"],
    ["::", { "::": "", "0.0.0.0": "EACCES" }, "EACCES"],
    ["::1", { "::1": "EADDRNOTAVAIL" }, "EADDRNOTAVAIL"],
    ["::1", { "::1": "" }, "EADDRNOTAVAIL"],
    ["localhost", { "::1": "EADDRINUSE" }, "EADDRINUSE"],
  ])("listenAt() fails at %s with %j", async (host, codes, code) => {
    const errors = Object.fromEntries(
      Object.entries<string>(codes).map(([host, code]) => [host, toError(code)]),
    );
    const servers: Server[] = [];
    const create = (): Server => {
      const server = new Lacking(errors);
      servers.push(server);
      return server;
    };
    await expect(listenAt(at(host), create)).rejects.toMatchObject({ code });
    expect(servers.filter(({ listening }) => listening)).toEqual([]);
  });

  test("listenAt() gives both loopback addresses the same port", async () => {
    const { servers, address, addresses } = await listenAt(at("localhost"), createServer);
    const ports = addresses.map((one) => one.kind === "tcp" && one.port);
    expect(new Set(ports).size).toBe(1);
    expect(address).toEqual({ kind: "tcp", host: "localhost", port: Number(ports[0]) });
    for (const server of servers) server.close();
  });
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-socket-"));
});
afterAll(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();

describe("clearSocketPath()", () => {
  test("clearSocketPath() finds nothing to do where nothing is", async () => {
    expect(await clearSocketPath(join(folder, "absent"), signal)).toBe("free");
  });

  test("clearSocketPath() leaves a file alone", async () => {
    const path = join(folder, "file");
    await writeFile(path, "x");
    expect(await clearSocketPath(path, signal)).toBe("occupied");
    expect(existsSync(path)).toBe(true);
  });

  test("clearSocketPath() leaves a socket alone that a process listens at", async () => {
    const path = join(folder, "live");
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once("listening", resolve));
    expect(await clearSocketPath(path, signal)).toBe("live");
    expect(existsSync(path)).toBe(true);
    server.close();
  });

  test("clearSocketPath() removes the socket of a process that was killed", async () => {
    const path = join(folder, "dead");
    await leaveSocket(path);
    expect(existsSync(path)).toBe(true);
    expect(await clearSocketPath(path, signal)).toBe("free");
    expect(existsSync(path)).toBe(false);
  });

  test("clearSocketPath() rejects when it is aborted while it connects, and leaves the socket alone", async () => {
    const path = join(folder, "stale");
    await leaveSocket(path);
    const stop = new AbortController();
    const reason = new Error("stop");
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on("uncaughtException", note);
    const cleared = clearSocketPath(path, stop.signal);
    stop.abort(reason);
    expect(await cleared.catch((error: unknown) => error)).toBe(reason);
    // The socket itself fails a moment later.
    await Bun.sleep(20);
    process.off("uncaughtException", note);
    expect(uncaught).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  test("clearSocketPath() rejects when it is aborted", async () => {
    const reason = new Error("stop");
    await expect(clearSocketPath(folder, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

/** Lets a process make a socket and kills it without a chance to clean up. */
async function leaveSocket(path: string): Promise<void> {
  const code = `Bun.serve({ unix: ${JSON.stringify(path)}, fetch: () => new Response() }); console.log("up");`;
  await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  await child.stdout.getReader().read();
  child.kill("SIGKILL");
  await child.exited;
}
