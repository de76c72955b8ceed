/**
 * WebSockets on the wire: trust, order, ends and bounds.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import type { CloudError } from "../../lib/cloud/errors.ts";
import { normalise, type Server } from "../../lib/cloud_http/client.ts";
import { type OpenSocket, openWebSocket } from "../../lib/core/http/web_socket.ts";
import { readTls, tlsPath } from "../support/net/tls_fixtures.ts";
import { createClient, toDeps } from "./fake_server.ts";

const { signal } = new AbortController();
const fingerprint = normalise(new X509Certificate(readTls("server.crt")).fingerprint256);

/** The ends of connections, as the server sees them, by the last message. */
const ends = new Map<unknown, () => void>();

/** Repeats messages; `close` closes, `flood` sends many, `large` sends a large one. */
function serve(tls?: { readonly cert: string; readonly key: string }) {
  return Bun.serve<{ last: unknown }>({
    port: 0,
    hostname: "127.0.0.1",
    ...(tls && { tls }),
    fetch(request, server) {
      const { pathname: path } = new URL(request.url);
      if (path === "/api/" && server.upgrade(request, { data: { last: undefined } }))
        return undefined;
      return new Response("no", { status: 404 });
    },
    websocket: {
      maxPayloadLength: 16 * 1024 * 1024,
      message(socket, message) {
        socket.data.last = message;
        if (message === "close") socket.close();
        else if (message === "large") socket.send("x".repeat(9 * 1024 * 1024));
        else if (message === "flood") for (let at = 0; at < 2_000; at += 1) socket.send(`${at}`);
        else socket.send(`${String(message)} again`);
      },
      close: ({ data }) => ends.get(data.last)?.(),
    },
  });
}

type Running = ReturnType<typeof serve>;
let plain: Running;
let secured: Running;
beforeAll(() => {
  plain = serve();
  secured = serve({ cert: readTls("server.crt"), key: readTls("server.key") });
});
afterAll(() => Promise.all([plain.stop(true), secured.stop(true)]));

function open(more: { readonly signal?: AbortSignal; readonly path?: string } = {}) {
  const url = `http://127.0.0.1:${plain.port}${more.path ?? "/api/"}`;
  return openWebSocket({ url, tls: {}, signal: more.signal ?? signal });
}

async function findEnd(socket: OpenSocket): Promise<string> {
  return await socket.receive().then(
    () => "a message",
    (error: unknown) => String(error),
  );
}

describe("openWebSocket()", () => {
  test("openWebSocket() sends and receives texts in their order", async () => {
    const socket = await open();
    socket.send("a");
    socket.send("b");
    expect([await socket.receive(), await socket.receive()]).toEqual(["a again", "b again"]);
    socket.close();
    expect(await findEnd(socket)).toContain("the connection is closed");
  });

  test("openWebSocket() says that the server closed the connection", async () => {
    const socket = await open();
    socket.send("close");
    expect(await findEnd(socket)).toContain("the server closed the connection");
  });

  test.each(["flood", "large"])("openWebSocket() ends a connection with a %s", async (what) => {
    const socket = await open();
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    ends.set(what, resolve);
    socket.send(what);
    // A client that takes each message as it comes is not flooded.
    await isOver;
    let end = "";
    while (end === "" || end === "a message") end = await findEnd(socket);
    expect(end).toContain("it sends more than Landfall accepts");
  });

  test("openWebSocket() ends with its signal, open or not", async () => {
    const ended = new AbortController();
    const socket = await open({ signal: ended.signal });
    const waiting = findEnd(socket);
    ended.abort(new Error("too late"));
    expect(await waiting).toContain("too late");
    await expect(open({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow(
      "before",
    );
  });

  test("openWebSocket() says that there is no WebSocket", async () => {
    await expect(open({ path: "/rest/v0" })).rejects.toThrow("accepts no WebSocket there");
  });
});

/** What a client gets. */
async function ask(more: Partial<Server>): Promise<string> {
  const url = `https://127.0.0.1:${secured.port}`;
  const deps = toDeps();
  const asked = { operation: "converse", url: `${url}/api/` };
  try {
    const socket = await createClient({ url, ...more }, deps).openWebSocket(asked, signal);
    socket.send("a");
    const text = await socket.receive();
    socket.close();
    expect(deps.metrics.render()).toContain('code="101",operation="converse"');
    return text;
  } catch (error) {
    const { kind, message } = error as CloudError;
    return `${kind}: ${message}`;
  }
}

describe("CloudClient.openWebSocket()", () => {
  const caFile = tlsPath("ca.crt");
  const other = fingerprint.replace(/^../, (byte) => (byte === "00" ? "01" : "00"));

  test("CloudClient.openWebSocket() trusts the authorities of the settings, and the pinned certificate", async () => {
    expect(await ask({ caFile })).toBe("a again");
    expect(await ask({ caFile, certificateFingerprint: fingerprint })).toBe("a again");
    expect(await ask({ insecure: true })).toBe("a again");
  });

  test("CloudClient.openWebSocket() trusts no other server, and says what to set", async () => {
    expect(await ask({})).toMatch(/^protocol: .*certificate not trusted.*set ca-file or pin/);
    expect(await ask({ caFile: tlsPath("other_ca.crt") })).toMatch(/^protocol: .*not trusted/);
    expect(await ask({ caFile, certificateFingerprint: other })).toMatch(/^protocol: /);
    expect(await ask({ insecure: true, certificateFingerprint: other })).toMatch(
      /^protocol: .*SHA-256 fingerprint/,
    );
  });

  test("CloudClient.openWebSocket() says that the server cannot be reached", async () => {
    const client = createClient({ url: "http://127.0.0.1:1" });
    const asked = { operation: "converse", url: "http://127.0.0.1:1/api/" };
    await expect(client.openWebSocket(asked, signal)).rejects.toThrow(
      "Cannot reach Example Cloud at 127.0.0.1:1: connection refused; check api-url",
    );
  });
});
