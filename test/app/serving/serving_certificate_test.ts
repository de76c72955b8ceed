import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import {
  checkManagementFiles,
  loadServingCertificate,
} from "../../../lib/app/serving/serving_certificate.ts";
import { createLogger } from "../../../lib/core/log.ts";
import type { KeyPair } from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { readTls, tlsPath } from "../../support/net/tls_fixtures.ts";

const DAY_MS = 24 * 3_600_000;
const log = createLogger({ format: "text", write: () => {}, now: () => 0 });

function toOptions(bind: string, clock: ManualClock, files: object = {}, host = "node-1") {
  const address = { kind: "tcp", host: bind, port: 0 } as const;
  return { secure: { address, alwaysAllowPaths: [], ...files }, host, clock, log };
}

test.each<[bind: string, host: string, names: string]>([
  ["0.0.0.0", "node-1", "DNS:node-1"],
  ["::", "node-1", "DNS:node-1"],
  ["127.0.0.1", "node-1", "DNS:node-1"],
  ["10.1.2.3", "node-1", "DNS:node-1, IP Address:10.1.2.3"],
  ["fd00::1", "node-1", "DNS:node-1, IP Address:FD00:0:0:0:0:0:0:1"],
  ["0.0.0.0", "localhost", ""],
  ["0.0.0.0", "knoten ä", ""],
])(
  "loadServingCertificate() for %s on %s is for this machine and %s",
  async (bind, host, names) => {
    const options = toOptions(bind, new ManualClock(), {}, host);
    const { keyPair } = await loadServingCertificate(options);
    const always = "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1";
    const { subjectAltName } = new X509Certificate(keyPair.cert);
    expect(subjectAltName).toBe(names === "" ? always : `${always}, ${names}`);
  },
);

test("ServingCertificate.watch() makes a new certificate 30 days before the old one ends", async () => {
  const clock = new ManualClock();
  const certificate = await loadServingCertificate(toOptions("0.0.0.0", clock));
  const used: KeyPair[] = [];
  const stop = new AbortController();
  const watching = certificate.watch((pair) => used.push(pair), stop.signal);
  await clock.advance(335 * DAY_MS - 1);
  expect(used).toEqual([]);
  await clock.advance(1);
  await clock.advance(335 * DAY_MS);
  expect(used).toHaveLength(2);
  const ends = [certificate.keyPair, ...used].map(({ cert }) => new X509Certificate(cert).validTo);
  const gaps = ends.map((end) => Math.round((Date.parse(end) - Date.UTC(2026, 0, 1)) / DAY_MS));
  expect(gaps).toEqual([365, 700, 1_035]);
  stop.abort();
  await watching;
  expect(clock.pending).toBe(0);
});

test("loadServingCertificate() reads files where they are given, and names what is wrong with them", async () => {
  const clock = new ManualClock();
  const files = { certFile: tlsPath("server.crt"), keyFile: tlsPath("server.key") };
  const { keyPair } = await loadServingCertificate(toOptions("0.0.0.0", clock, files));
  expect(keyPair.cert).toBe(readTls("server.crt"));
  const wrong = { ...files, keyFile: tlsPath("client.key") };
  await expect(loadServingCertificate(toOptions("0.0.0.0", clock, wrong))).rejects.toThrow(
    "--tls-private-key-file",
  );
});

test("checkManagementFiles() reads both files, if there are any", async () => {
  const [certFile, keyFile] = [tlsPath("server.crt"), tlsPath("server.key")];
  const flags = { address: "--a", certFile: "--cert", keyFile: "--key" };
  const place = { address: "127.0.0.1:0", names: [], flags };
  await checkManagementFiles(place);
  await checkManagementFiles({ ...place, certFile, keyFile });
  const wrong = checkManagementFiles({ ...place, certFile, keyFile: "/nope" });
  await expect(wrong).rejects.toThrow("--key: /nope: ");
});
