/**
 * A Redfish service on a port with TLS, for real clients.
 * @module
 */
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import type { MachineManagement } from "../../../lib/cloud/capabilities/machine_management.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../lib/http/redfish/metrics.ts";
import { createRedfishService, REDFISH_REQUESTS } from "../../../lib/http/redfish/service.ts";
import { startHttpServer } from "../../../lib/http/sockets/server.ts";
import { readTls } from "../net/tls_fixtures.ts";

/** A running service. Its certificate is signed by the fixture `ca.crt`. */
interface ServedRedfish extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
}

/** Starts one. */
export async function serveRedfish(backend: MachineManagement): Promise<ServedRedfish> {
  const ended = new AbortController();
  const { signal } = ended;
  const shared = { clock: systemClock, log: silentLogger };
  const server = await startHttpServer({
    ...shared,
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    handler: createRedfishService({
      ...shared,
      management: backend,
      metrics: createRedfishMetrics(new MetricsRegistry()),
      version: "1.2.3",
      signal,
    }),
    accepted: REDFISH_REQUESTS,
    keyPair: { cert: readTls("server.crt"), key: readTls("server.key") },
    flag: "--vino-redfish-address",
    signal,
  });
  if (server.address.kind !== "tcp") throw new Error("Cannot test: no port");
  return {
    url: `https://127.0.0.1:${server.address.port}`,
    async [Symbol.asyncDispose]() {
      ended.abort();
      await server.stop(0);
    },
  };
}
