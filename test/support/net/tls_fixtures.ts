/**
 * Certificates and keys for servers on loopback. Made by `test/fixtures/tls/generate.sh`.
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Names of the fixtures. Signed by `ca`: server, named_server, expired_server, client; by `other_ca`: other_server; by
 * itself: rsa_server.
 */
export type TlsFixture =
  | "ca.crt"
  | "other_ca.crt"
  | "server.crt"
  | "server.key"
  | "named_server.crt"
  | "named_server.key"
  | "expired_server.crt"
  | "expired_server.key"
  | "other_server.crt"
  | "other_server.key"
  | "rsa_server.crt"
  | "rsa_server.key"
  | "client.crt"
  | "client.key"
  | "client_encrypted.key";

/** Path of a fixture. */
export function tlsPath(name: TlsFixture): string {
  return fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
}

/** PEM of a fixture. */
export function readTls(name: TlsFixture): string {
  return readFileSync(tlsPath(name), "utf8");
}
