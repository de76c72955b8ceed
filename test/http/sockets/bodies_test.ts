/**
 * Bodies of requests, over real sockets.
 * @module
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { type HttpServer, startHttpServer } from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { openRaw } from "../../support/net/raw_http.ts";

const HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n";
const accepted = { methods: ["GET", "POST"], bodyBytesMax: 8 };

function start(clock = systemClock): Promise<HttpServer> {
  return startHttpServer({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    accepted,
    handler: {
      fetch: async (request, peer) => new Response(`${await request.text()} of ${peer?.address}`),
    },
    clock,
    flag: "--vino-redfish-address",
    log: silentLogger,
    signal: AbortSignal.timeout(10_000),
  });
}

function portOf({ address }: HttpServer): number {
  if (address.kind !== "tcp") throw new Error("Cannot test: no port");
  return address.port;
}

let server: HttpServer;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop(1_000));

function post(body: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${portOf(server)}/`, { method: "POST", body });
}

test("startHttpServer() passes on a small body, and the address of the client", async () => {
  expect(await (await post("12345678")).text()).toBe("12345678 of 127.0.0.1");
});

test("startHttpServer() passes on a body in chunks, and keeps the connection", async () => {
  const connection = await openRaw({ port: portOf(server) });
  const chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  connection.send(`${HEAD}${chunks}${HEAD}Content-Length: 1\r\n\r\nf`);
  await connection.untilAnswers(2);
  expect(connection.statuses).toEqual([200, 200]);
  connection.socket.destroy();
});

test("startHttpServer() refuses a body that becomes too large, and reads no more of it", async () => {
  const connection = await openRaw({ port: portOf(server) });
  connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  for (let at = 0; at < 3; at += 1) connection.send("4\r\nabcd\r\n");
  await connection.closed;
  expect(connection.statuses).toEqual([413]);
});

test.each([
  ["PUT", "Content-Length: 0", 405],
  ["POST", "Content-Length: 9", 413],
  ["POST", "Expect: 100-continue\r\nContent-Length: 4", 417],
])(
  "startHttpServer() refuses %s with %s before it reads a body",
  async (method, headers, status) => {
    const connection = await openRaw({ port: portOf(server) });
    connection.send(`${method} / HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n\r\n`);
    await connection.closed;
    expect(connection.statuses).toEqual([status]);
    if (status === 405) expect(connection.received).toContain("allow: GET, POST\r\n");
  },
);

test("startHttpServer() ends a connection whose body does not come in time", async () => {
  const clock = new ManualClock();
  const slow = await start(clock);
  const connection = await openRaw({ port: portOf(slow) });
  connection.send(`${HEAD}Content-Length: 8\r\n\r\nabc`);
  while (!connection.socket.closed) {
    await clock.advance(10_000);
    await Bun.sleep(1);
  }
  expect(connection.statuses).toEqual([]);
  await slow.stop(0);
});
