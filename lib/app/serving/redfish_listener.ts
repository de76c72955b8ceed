/**
 * The listener of a controller by which clients manage machines with the Redfish protocol.
 * @module
 */
import type { ManagementListener } from "../../controllers/definition.ts";
import { VERSION } from "../../cli/version.ts";
import { ConfigError } from "../../core/errors.ts";
import { mustBeText } from "../../core/text/values.ts";
import { createRedfishMetrics } from "../../http/redfish/metrics.ts";
import { createRedfishService, REDFISH_REQUESTS } from "../../http/redfish/service.ts";
import { type ListenAddress, parseListenAddress } from "../../core/net/listen_address.ts";
import type { HttpServer } from "../../http/sockets/server.ts";
import type { AppOptions } from "../options.ts";
import {
  type CertifiedProcess,
  startCertifiedServer,
  toManagementPort,
} from "./serving_certificate.ts";

/**
 * Starts the listener. A standby listens, too, and says that another process answers.
 *
 * @param signal Gives up starting. It does not stop the listener
 * @throws {ConfigError} when the address cannot be listened at, or the certificate cannot be used
 */
export async function startRedfishListener(
  app: CertifiedProcess & Pick<AppOptions, "metrics">,
  { management, address: text, certFile, keyFile, names, flags }: ManagementListener,
  signal: AbortSignal,
): Promise<HttpServer> {
  const { clock, log } = app;
  const address = parseAddress(text, flags.address);
  const metrics = createRedfishMetrics(app.metrics);
  const server = {
    secure: { address, ...(certFile && keyFile && { certFile, keyFile }) },
    port: toManagementPort({ flags }),
    names,
    flag: flags.address,
    accepted: REDFISH_REQUESTS,
    createHandler: (stopped: AbortSignal) =>
      createRedfishService({
        management,
        clock,
        log,
        metrics,
        version: VERSION,
        signal: stopped,
      }),
  };
  return await startCertifiedServer(app, server, signal);
}

function parseAddress(text: string, flag: string): ListenAddress {
  try {
    const address = parseListenAddress(text);
    if (address.kind === "tcp") return address;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const message = mustBeText("host:port with a port up to 65535", text);
  throw new ConfigError([{ source: flag, message }]);
}
