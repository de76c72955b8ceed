/**
 * What is refused before any page sees it.
 * @module
 */
import { expect, test } from "bun:test";
import { refuseRequest } from "../../lib/http/guard.ts";
import type { ListenAddress } from "../../lib/http/listen_address.ts";

const LOOPBACK: ListenAddress = { kind: "tcp", host: "127.0.0.1", port: 80 };
const OPEN: ListenAddress = { kind: "tcp", host: "10.0.0.1", port: 80 };
const SOCKET: ListenAddress = { kind: "unix", path: "/x" };

const cases: readonly [ListenAddress, string, string | undefined, number | undefined][] = [
  [LOOPBACK, "GET", "127.0.0.1:10260", undefined],
  [LOOPBACK, "GET", "localhost", undefined],
  [LOOPBACK, "GET", "LocalHost:1", undefined],
  [LOOPBACK, "HEAD", "[::1]:1", undefined],
  [LOOPBACK, "GET", "[::1]", undefined],
  [LOOPBACK, "GET", "evil.example.com", 421],
  [LOOPBACK, "GET", "127.0.0.1.example.com:80", 421],
  [LOOPBACK, "GET", "localhost:80@evil", 421],
  [LOOPBACK, "GET", "", 421],
  [LOOPBACK, "GET", undefined, 421],
  [LOOPBACK, "POST", "evil.example.com", 421],
  [LOOPBACK, "POST", "localhost", 405],
  [LOOPBACK, "OPTIONS", "localhost", 405],
  [OPEN, "GET", "whatever", undefined],
  [OPEN, "DELETE", "whatever", 405],
  [SOCKET, "GET", "whatever", undefined],
  [SOCKET, "PUT", "whatever", 405],
];
test.each(cases)(
  "refuseRequest() at %j for %s with Host %j gives %p",
  (address, method, host, status) => {
    const headers = new Headers(host === undefined ? {} : { host });
    const refusal = refuseRequest(new Request("http://x/", { method, headers }), address);
    expect(refusal?.status).toBe(status);
    expect(refusal?.headers.get("allow") ?? "").toBe(status === 405 ? "GET, HEAD" : "");
  },
);
