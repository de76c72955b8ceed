import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedfishListener } from "../../../lib/app/serving/redfish_listener.ts";
import type { ManagementListener } from "../../../lib/controllers/definition.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import type { HttpServer } from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { askHttps, readCertificate } from "../../support/net/https_client.ts";
import { tlsPath } from "../../support/net/tls_fixtures.ts";
import { makeSystem, MemoryBackend } from "../../support/redfish/memory_backend.ts";

const { signal } = new AbortController();
const flags = {
  address: "--vino-redfish-address",
  certFile: "--vino-redfish-tls-cert-file",
  keyFile: "--vino-redfish-tls-private-key-file",
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-redfish-"));
});
afterAll(() => rm(folder, { recursive: true }));

function start(
  more: Partial<ManagementListener> = {},
  clock = new ManualClock(),
): Promise<HttpServer> {
  const management = new MemoryBackend([makeSystem("a")]);
  const listener = { management, address: "127.0.0.1:0", names: [], flags, ...more };
  return startRedfishListener(
    { clock, log: silentLogger, host: "node-1", metrics: new MetricsRegistry() },
    listener,
    signal,
  );
}

function portOf({ address }: HttpServer): number {
  if (address.kind !== "tcp") throw new Error("Cannot test: no port");
  return address.port;
}

test("startRedfishListener() serves Redfish with a certificate of its own, which names the service", async () => {
  const server = await start({ names: ["redfish.metal.svc"] });
  const { status, text } = await askHttps(portOf(server), "/redfish");
  expect([status, JSON.parse(text)]).toEqual([200, { v1: "/redfish/v1/" }]);
  expect((await askHttps(portOf(server), "/redfish/v1/Systems")).status).toBe(401);
  const { subjectAltName } = await readCertificate(portOf(server));
  expect(subjectAltName).toContain("DNS:redfish.metal.svc");
  await server.stop(0);
});

test("startRedfishListener() uses a new certificate when its files change", async () => {
  const certFile = join(folder, "tls.crt");
  const keyFile = join(folder, "tls.key");
  const show = async (name: "server" | "named_server"): Promise<void> => {
    await copyFile(tlsPath(`${name}.crt`), certFile);
    await copyFile(tlsPath(`${name}.key`), keyFile);
  };
  await show("server");
  const clock = new ManualClock();
  const server = await start({ certFile, keyFile }, clock);
  const before = await readCertificate(portOf(server));
  await show("named_server");
  let now = before;
  for (let tries = 0; tries < 100 && now.serialNumber === before.serialNumber; tries += 1) {
    await clock.advance(10_000);
    await Bun.sleep(5);
    now = await readCertificate(portOf(server));
  }
  expect(now.serialNumber).not.toBe(before.serialNumber);
  await server.stop(0);
});

test("startRedfishListener() names its own flags in problems", async () => {
  await expect(start({ address: "/run/redfish.sock" })).rejects.toThrow(
    '--vino-redfish-address: must be host:port with a port up to 65535, but is "/run/redfish.sock"',
  );
  await expect(start({ address: "8443" })).rejects.toThrow("--vino-redfish-address: must be");
  const files = { certFile: tlsPath("server.crt"), keyFile: tlsPath("client.key") };
  await expect(start(files)).rejects.toThrow("--vino-redfish-tls-private-key-file: ");
});
