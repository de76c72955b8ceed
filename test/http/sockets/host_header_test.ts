/**
 * Which hosts a request may be for.
 * @module
 */
import { expect, test } from "bun:test";
import { refuseForeignHost } from "../../../lib/http/sockets/host_header.ts";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";

const LOOPBACK: ListenAddress = { kind: "tcp", host: "127.0.0.1", port: 80 };
const OPEN: ListenAddress = { kind: "tcp", host: "10.0.0.1", port: 80 };
const SOCKET: ListenAddress = { kind: "unix", path: "/x" };

test.each<[ListenAddress, string | undefined, number | undefined]>([
  [LOOPBACK, "127.0.0.1:10260", undefined],
  [LOOPBACK, "localhost", undefined],
  [LOOPBACK, "LocalHost:1", undefined],
  [LOOPBACK, "[::1]:1", undefined],
  [LOOPBACK, "[::1]", undefined],
  [LOOPBACK, "evil.example.com", 421],
  [LOOPBACK, "127.0.0.1.example.com:80", 421],
  [LOOPBACK, "localhost:80@evil", 421],
  [LOOPBACK, "", 421],
  [LOOPBACK, undefined, 421],
  [OPEN, "whatever", undefined],
  [SOCKET, "whatever", undefined],
])("refuseForeignHost() at %j with Host %j gives %p", (address, host, status) => {
  const headers = new Headers(host === undefined ? {} : { host });
  const request = new Request("http://x/", { headers });
  expect(refuseForeignHost(request, address)?.status).toBe(status);
});
