/**
 * Where an HTTP server listens: a host and port, or a unix socket.
 * @module
 */
import { isIPv6 } from "node:net";
import { mustBeText } from "../text/values.ts";

/** An address to listen at. With port 0 the system chooses a port. */
export type ListenAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** The kernel keeps socket paths in 108 bytes, the last one zero (unix(7)). */
const SOCKET_PATH_BYTES_MAX = 107;

/**
 * Reads `host:port`, `[ipv6]:port`, `/path/of.sock`, `./of.sock` or `unix:/path/of.sock`.
 *
 * @throws {RangeError} when the text is none of these; the message quotes it
 */
export function parseListenAddress(text: string): ListenAddress {
  const path = /^(?:unix:(?:\/\/)?(.+)|(\.{0,2}\/.+))$/.exec(text);
  if (path !== null) return toUnixAddress(path[1] ?? path[2] ?? "");
  const [, bracketed, plain, digits = ""] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const isHost = bracketed === undefined ? host !== undefined : isIPv6(bracketed);
  if (host === undefined || !isHost || port > 65_535) {
    throw new RangeError(
      mustBeText("host:port with a port up to 65535, or the path of a unix socket", text),
    );
  }
  return { kind: "tcp", host, port };
}

/** Shows an address as {@linkcode parseListenAddress} reads it. */
export function formatListenAddress(address: ListenAddress): string {
  if (address.kind === "unix") return `unix:${address.path}`;
  return `${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
}

function toUnixAddress(path: string): ListenAddress {
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new RangeError(
      `Cannot listen at "${path}": the path has ${bytes} bytes, ` +
        `but a unix socket can have at most ${SOCKET_PATH_BYTES_MAX}`,
    );
  }
  return { kind: "unix", path };
}
