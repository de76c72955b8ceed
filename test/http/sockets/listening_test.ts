/**
 * The sockets of an address, real ones where this machine has them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createServer, type ListenOptions, Server } from "node:net";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";
import { listenAt, planListening, type ListenPlan } from "../../../lib/http/sockets/listening.ts";

const EVERYWHERE: ListenPlan = { hosts: ["::", "0.0.0.0"], wanted: "first" };
const LOOPBACKS: ListenPlan = { hosts: ["127.0.0.1", "::1"], wanted: "each" };

test.each<[string, ListenPlan]>([
  ["0.0.0.0", EVERYWHERE],
  ["::", EVERYWHERE],
  ["0:0:0:0:0:0:0:0", EVERYWHERE],
  ["::ffff:0.0.0.0", EVERYWHERE],
  ["localhost", LOOPBACKS],
  ["LocalHost", LOOPBACKS],
  ["127.0.0.1", { hosts: ["127.0.0.1"], wanted: "each" }],
  ["::1", { hosts: ["::1"], wanted: "each" }],
  ["::ffff:192.0.2.1", { hosts: ["192.0.2.1"], wanted: "each" }],
  ["fe80::1%eth0", { hosts: ["fe80::1%eth0"], wanted: "each" }],
])("planListening() knows what %s stands for", (host, plan) => {
  expect(planListening(host)).toEqual(plan);
});

/** A server on a machine that lacks some addresses, as the runtime tells it. */
class Lacking extends Server {
  readonly #errors: Readonly<Record<string, Error>>;

  constructor(errors: Readonly<Record<string, Error>>) {
    super();
    this.#errors = errors;
  }

  override listen(...args: unknown[]): this {
    const [options, done] = args as [ListenOptions, () => void];
    const error = this.#errors[options.host ?? ""];
    if (error === undefined) return super.listen(options, done);
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
