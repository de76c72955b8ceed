/**
 * Where an HTTP server listens.
 * @module
 */
import { expect, test } from "bun:test";
import { formatListenAddress, parseListenAddress } from "../../../lib/core/net/listen_address.ts";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";

const good: readonly [string, ListenAddress, string][] = [
  ["127.0.0.1:80", { kind: "tcp", host: "127.0.0.1", port: 80 }, "127.0.0.1:80"],
  ["localhost:0", { kind: "tcp", host: "localhost", port: 0 }, "localhost:0"],
  ["[::1]:65535", { kind: "tcp", host: "::1", port: 65_535 }, "[::1]:65535"],
  ["/run/x.sock", { kind: "unix", path: "/run/x.sock" }, "unix:/run/x.sock"],
  ["./x:1.sock", { kind: "unix", path: "./x:1.sock" }, "unix:./x:1.sock"],
  ["unix:/run/x.sock", { kind: "unix", path: "/run/x.sock" }, "unix:/run/x.sock"],
  ["unix:///run/x.sock", { kind: "unix", path: "/run/x.sock" }, "unix:/run/x.sock"],
];
test.each(good)("parseListenAddress() reads %j", (text, address, shown) => {
  expect(parseListenAddress(text)).toEqual(address);
  expect(formatListenAddress(address)).toBe(shown);
  expect(parseListenAddress(shown)).toEqual(address);
});

const bad = ["", "80", ":80", "host", "host:", "h:65536", "::1:80", "[x]:80", "a:b:80", "unix:"];
test.each([...bad, `/${"x".repeat(107)}`])("parseListenAddress() refuses %j", (text) => {
  expect(() => parseListenAddress(text)).toThrow(RangeError);
  expect(() => parseListenAddress(text)).toThrow(text === "" ? "is empty" : `"${text}"`);
});
