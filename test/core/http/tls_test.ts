import { afterAll, describe, expect, test } from "bun:test";
import { createServer, connect } from "node:tls";
import { createClient, NAMES } from "../../cloud_http/fake_server.ts";
import { diagnoseConnection } from "../../../lib/cloud_http/diagnosis.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { HttpHeaders } from "../../../lib/core/http/request.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { startHttpServer } from "../../../lib/http/sockets/server.ts";
import { createTransport } from "../../../lib/kube/api/request.ts";
import { readTls, tlsPath } from "../../support/net/tls_fixtures.ts";

const KEY_PAIR = { cert: readTls("rsa_server.crt"), key: readTls("rsa_server.key") };
const ca = KEY_PAIR.cert;
const signal = AbortSignal.timeout(20_000);
/** Without forward secrecy, and without authenticated encryption. */
const WEAK = ["AES128-GCM-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA"];

describe.each(WEAK)("a server that offers only %s", (ciphers) => {
  const server = createServer({ ...KEY_PAIR, maxVersion: "TLSv1.2", ciphers }, (socket) => {
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  });
  server.listen(0, "127.0.0.1");
  afterAll(() => void server.close());
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const headers = {};
  const cloud = createClient({ url, caFile: tlsPath("rsa_server.crt") });
  const request = { operation: "ask", method: "GET", url, headers } as const;
  const kube = (sent: HttpHeaders): Promise<Response> =>
    createTransport(url).send(
      { method: "GET", path: "/", headers },
      { headers: sent, tls: { ca }, version: 1 },
      signal,
    );

  test.each([
    ["a request to a cloud", () => cloud.request(request, signal)],
    [
      "a stream of a cloud",
      () => cloud.openStream({ ...request, type: "text/event-stream" }, signal),
    ],
    ["a WebSocket", () => cloud.openWebSocket(request, signal)],
    ["a request to the API server", () => kube({})],
    ["one with a repeated header", () => kube({ "impersonate-group": ["a", "b"] })],
  ])("gets no %s", async (_title, send) => {
    await expect(send()).rejects.toThrow(/handshake/i);
  });

  test("is explained", async () => {
    const error = await cloud.request(request, signal).catch((caught: unknown) => caught);
    const asked = { server: { url }, names: NAMES, signal };
    expect(await diagnoseConnection(error, asked)).toMatchObject({ code: "tlsCiphers" });
  });
});

test("a server of Landfall takes ECDHE with AEAD alone, also with another certificate", async () => {
  const server = await startHttpServer({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    handler: { fetch: () => new Response("hello") },
    keyPair: KEY_PAIR,
    flag: "--secure-port",
    clock: systemClock,
    log: silentLogger,
    signal,
  });
  const port = server.address.kind === "tcp" ? server.address.port : 0;
  const shake = (ciphers: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port, ca, ciphers, maxVersion: "TLSv1.2" });
      socket.once("secureConnect", () => {
        resolve(socket.getCipher().name);
        socket.destroy();
      });
      socket.once("error", () => resolve("refused"));
    });
  for (let round = 0; round < 2; round += 1) {
    for (const weak of WEAK) expect(await shake(weak)).toBe("refused");
    expect(await shake("ECDHE-RSA-CHACHA20-POLY1305")).toBe("ECDHE-RSA-CHACHA20-POLY1305");
    server.useKeyPair(KEY_PAIR);
  }
  await server.stop(0);
});
