/**
 * Connections over TLS on loopback, and what their failures mean.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { describeError } from "../../../lib/core/errors.ts";
import type { TlsSettings } from "../../../lib/core/http/connection.ts";
import type { Credential } from "../../../lib/kube/credentials/credentials.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import {
  createTransport,
  isConnectionReset,
  isTlsRefusal,
  toTransportError,
  type Transport,
} from "../../../lib/kube/api/request.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const signal = new AbortController().signal;
const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface TlsServer {
  url: string;
  /** Remote ports of the requests, one a request. */
  ports: number[];
}

function startTls(
  name: "server" | "named_server" | "other_server",
  clientCa?: "ca.crt",
): TlsServer {
  const ports: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: {
      cert: readTls(`${name}.crt`),
      key: readTls(`${name}.key`),
      ...(clientCa !== undefined && {
        ca: readTls(clientCa),
        requestCert: true,
        rejectUnauthorized: true,
      }),
    },
    fetch(request, server) {
      ports.push(server.requestIP(request)?.port ?? 0);
      return new Response(request.headers.get("authorization") ?? "anonymous");
    },
  });
  closers.push(() => server.stop(true));
  return { url: `https://127.0.0.1:${server.port}`, ports };
}

/** A server that sends the head and a word, and the rest when told. */
function startSlowly(): { port: number; push: (text: string) => void } {
  let push = (_text: string): void => {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue("first ");
            push = (text) => {
              controller.enqueue(text);
              controller.close();
            };
          },
        }),
      ),
  });
  closers.push(() => server.stop(true));
  return { port: server.port ?? 0, push: (text) => push(text) };
}

async function startRaw(onData: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => onData(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

function toCredential(tls: TlsSettings, version: number = 1): Credential {
  return { headers: { authorization: "Bearer t" }, tls, version };
}

const REQUEST = { method: "GET", path: "/", headers: {} } as const;

function open(url: string): Transport {
  const transport = createTransport(url);
  closers.push(() => transport.close());
  return transport;
}

async function send(url: string, credential: Credential): Promise<string> {
  return (await open(url).send(REQUEST, credential, signal)).text();
}

const ca = readTls("ca.crt");
const PAIR = { cert: readTls("client.crt"), key: readTls("client.key") };

describe("createTransport()", () => {
  test("connects with the right authority and sends the credential's headers", async () => {
    expect(await send(startTls("server").url, toCredential({ ca }))).toBe("Bearer t");
  });

  test("sends a header with several values as several, over TLS, and names what it cannot do", async () => {
    const url = await startRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    );
    const headers = { authorization: "Bearer t", "impersonate-group": ["a", "b"] };
    expect(await send(url, { ...toCredential({}), headers })).toBe("ok");
    const secure = startTls("server").url;
    expect(await send(secure, { ...toCredential({ ca }), headers })).toBe("Bearer t");
    await expect(send(secure, { ...toCredential({}), headers })).rejects.toMatchObject({
      kind: "unavailable",
    });
    const proxied = { ...toCredential({ ca }), headers, proxy: "http://127.0.0.1:1" };
    await expect(send(secure, proxied)).rejects.toThrow("leave out proxy-url");
  });

  test("shows a client certificate to a server that wants one", async () => {
    const { url } = startTls("server", "ca.crt");
    expect(await send(url, toCredential({ ca, ...PAIR }))).toBe("Bearer t");
    await expect(send(url, toCredential({ ca }))).rejects.toMatchObject({ kind: "unavailable" });
  });

  const REFUSED: [string, "server" | "named_server" | "other_server", TlsSettings][] = [
    ["an authority that did not sign the server", "other_server", { ca }],
    ["no authority for a private server", "server", {}],
    ["a certificate without the server's address", "named_server", { ca }],
    ["a certificate without the wanted name", "server", { ca, serverName: "kubernetes.example" }],
  ];
  test.each(REFUSED)("refuses %s", async (_title, name, tls) => {
    const server = startTls(name);
    const error = await send(server.url, toCredential(tls)).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "KubeError", kind: "unavailable" });
    expect(isTlsRefusal(error)).toBe(true);
    expect(server.ports).toEqual([]);
  });

  test("checks the certificate against tls-server-name", async () => {
    const { url } = startTls("named_server");
    const tls = { ca, serverName: "kubernetes.example" };
    expect(await send(url, toCredential(tls))).toBe("Bearer t");
  });

  test("believes any server with insecure-skip-tls-verify", async () => {
    const { url } = startTls("other_server");
    expect(await send(url, toCredential({ insecure: true }))).toBe("Bearer t");
  });

  test("keeps one connection for one version, and opens another for the next", async () => {
    const { url, ports } = startTls("server");
    const transport = open(url);
    for (const version of [1, 1, 1, 2, 2]) {
      const reply = await transport.send(REQUEST, toCredential({ ca }, version), signal);
      await reply.text();
    }
    const [first, second, third, fourth, fifth] = ports;
    expect([second, third, fifth]).toEqual([first, first, fourth]);
    expect(fourth).not.toBe(first);
  });

  test("gives up idle connections once, and not those that came after", async () => {
    const { url, ports } = startTls("server");
    const transport = open(url);
    const ask = async (): Promise<void> => {
      await (await transport.send(REQUEST, toCredential({ ca }), signal)).text();
    };
    await ask();
    const silent = transport.generation;
    transport.giveUp(silent);
    await ask();
    // Another request on the same old connection comes to the same end.
    transport.giveUp(silent);
    await ask();
    const [first, second, third] = ports;
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    expect(transport.generation).toBe(silent + 1);
  });

  test("lets an answer that is under way end on its old connection", async () => {
    const { port, push } = startSlowly();
    const transport = open(`http://127.0.0.1:${port}`);
    const reply = await transport.send(REQUEST, toCredential({}), signal);
    transport.giveUp(transport.generation);
    push("whole");
    expect(await reply.text()).toBe("first whole");
  });

  test("goes through the proxy of the credentials, also to our own machine", async () => {
    const asked: string[] = [];
    const proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        asked.push(request.url);
        return new Response("proxied");
      },
    });
    closers.push(() => proxy.stop(true));
    const credential = { ...toCredential({}), proxy: `http://127.0.0.1:${proxy.port}` };
    expect(await send("http://127.0.0.1:9", credential)).toBe("proxied");
    expect(asked).toEqual(["http://127.0.0.1:9/"]);
  });

  test("says that it went through a proxy, without its password", async () => {
    const credential = { ...toCredential({}), proxy: "http://user:s3cret@127.0.0.1:1" };
    const error = await send("https://api.example", credential).catch((error: unknown) => error);
    expect(describeError(error)).toBe(
      "cannot reach the API server at api.example:443 through the proxy 127.0.0.1:1: connection refused",
    );
  });

  test("does not follow a redirect with the token", async () => {
    const asked: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        return Response.redirect("/elsewhere");
      },
    });
    closers.push(() => server.stop(true));
    await send(`http://127.0.0.1:${server.port}`, toCredential({}));
    expect(asked).toEqual(["/"]);
  });

  test("rejects with the reason of the signal", async () => {
    const url = await startRaw(() => {});
    const transport = open(url);
    const stop = new AbortController();
    const sending = transport.send(REQUEST, toCredential({}), stop.signal);
    stop.abort(new Error("stop"));
    await expect(sending).rejects.toThrow("stop");
    await expect(transport.send(REQUEST, toCredential({}), stop.signal)).rejects.toThrow("stop");
  });
});

describe("isConnectionReset()", () => {
  test("tells a connection that broke from one that was refused", async () => {
    const url = await startRaw((socket) => socket.resetAndDestroy());
    const broken = await send(url, toCredential({})).catch((error: unknown) => error);
    const refused = await send("http://127.0.0.1:1", toCredential({})).catch((e: unknown) => e);
    expect([broken, refused].map(isConnectionReset)).toEqual([true, false]);
    expect(refused).toMatchObject({ kind: "unavailable" });
    expect([broken, refused].map(describeError)).toEqual([
      `cannot reach the API server at ${new URL(url).host}: ` +
        "the connection was closed before the answer was complete",
      "cannot reach the API server at 127.0.0.1:1: connection refused",
    ]);
  });
});

describe("toTransportError()", () => {
  test("gives the reason of an aborted signal, whatever happened", () => {
    expect(toTransportError(new Error("x"), AbortSignal.abort("stop"))).toBe("stop");
  });

  test("leaves a KubeError as it is, and shows nothing of what the runtime says", () => {
    const known = new KubeError("gone", "m");
    expect(toTransportError(known, signal)).toBe(known);
    const cause = Object.assign(new Error("pass `verbose: true`"), { code: "EWHATEVER" });
    const error = toTransportError(cause, signal);
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(describeError(error)).toBe("the connection failed (EWHATEVER)");
  });
});
