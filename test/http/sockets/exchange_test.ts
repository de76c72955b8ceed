import { expect, test } from "bun:test";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import {
  type Accepted,
  formatBareAnswer,
  readRequest,
  sendRefusal,
} from "../../../lib/http/sockets/exchange.ts";

interface Head {
  readonly method?: string;
  readonly url?: string;
  readonly version?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

function toIncoming({
  method = "GET",
  url = "/a",
  version = 1,
  headers = { host: "h" },
}: Head): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  incoming.method = method;
  incoming.url = url;
  incoming.httpVersionMajor = version;
  const distinct = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
  Object.defineProperty(incoming, "headersDistinct", { value: Object.fromEntries(distinct) });
  const first = distinct.map(([name, [value]]) => [name, value] as const);
  Object.defineProperty(incoming, "headers", { value: Object.fromEntries(first) });
  return incoming;
}

test("readRequest() gives address, method and headers", () => {
  const headers = { host: "[::1]:80", authorization: "Bearer t" };
  const request = readRequest(toIncoming({ method: "HEAD", url: "/a%20b?c=d", headers }));
  if (!(request instanceof Request)) throw new Error(request.message);
  expect([request.method, request.url]).toEqual(["HEAD", "http://[::1]/a%20b?c=d"]);
  expect(request.headers.get("authorization")).toBe("Bearer t");
});

test("readRequest() gives a path that begins with two slashes as a path", () => {
  const request = readRequest(toIncoming({ url: "//evil/metrics" }));
  expect(request instanceof Request && request.url).toBe("http://h//evil/metrics");
});

test.each<[title: string, head: Head, status: number]>([
  ["HTTP/0.9", { version: 0 }, 505],
  ["HTTP/2 without its frames", { version: 2 }, 505],
  ["what it cannot expect", { headers: { host: "h", expect: "a miracle" } }, 417],
  ["two tokens", { headers: { host: "h", authorization: ["a", "b"] } }, 400],
  ["no path", { url: "*" }, 400],
  ["a host that moves the path", { headers: { host: "h/healthz?" } }, 400],
  ["a host with somebody in it", { headers: { host: "a@h" } }, 400],
])("readRequest() refuses %s", (_title, head, status) => {
  expect(readRequest(toIncoming(head))).toMatchObject({ status });
});

const SMALL_BODIES: Accepted = { methods: ["GET", "POST"], bodyBytesMax: 4 };
const JSON_HEAD = { host: "h", "content-length": "4" };

test.each<[title: string, head: Head, status: number]>([
  ["another method", { method: "PUT" }, 405],
  [
    "a body that is too long",
    { method: "POST", headers: { ...JSON_HEAD, "content-length": "5" } },
    413,
  ],
  [
    "a body that comes later",
    { method: "POST", headers: { ...JSON_HEAD, expect: "100-continue" } },
    417,
  ],
])("readRequest() refuses %s where small bodies are accepted", (_title, head, status) => {
  expect(readRequest(toIncoming(head), SMALL_BODIES)).toMatchObject({ status });
});

test("sendRefusal() ends the connection, and says which methods there are", () => {
  const outgoing = new ServerResponse(toIncoming({}));
  sendRefusal({ status: 405, message: "no\n", allow: "GET, HEAD" }, outgoing);
  expect(outgoing.statusCode).toBe(405);
  expect(outgoing.getHeaders()).toMatchObject({ connection: "close", allow: "GET, HEAD" });
});

test("formatBareAnswer() gives an answer without a body that is the last one", () => {
  expect(formatBareAnswer(405)).toBe(
    "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
  );
});
