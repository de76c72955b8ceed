/**
 * The HTTP listeners of a process.
 * @module
 */
import type { AppOptions } from "../options.ts";
import { type Parts, toChecks } from "../parts.ts";
import { startCertifiedServer } from "./serving_certificate.ts";
import { guardAccess } from "../../http/access.ts";
import { createProbeRoutes } from "../../http/probes.ts";
import { type Handler, type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import {
  createDelegatedReviewer,
  createReviewMetrics,
} from "../../kube/access/delegated_review.ts";

/**
 * Starts every listener of the options.
 *
 * @param signal Ends the start. It stops no running listener
 * @throws {ConfigError} when it cannot listen at an address, or a certificate cannot be used
 */
export async function startListeners(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<HttpServer[]> {
  const { clock, log, metrics, debugAddress, secure, connectionsMax } = options;
  const handler = createProbeRoutes({
    checks: toChecks(parts),
    renderMetrics: () => metrics.render(),
    // Few requests ask for them, and their code is large.
    loadPages: async () => (await import("./views.ts")).createProcessPages(options, parts),
  });
  const servers: HttpServer[] = [];
  try {
    if (debugAddress) {
      const flag = "--debug-address";
      const place = { address: debugAddress, connectionsMax, flag, clock, log, signal };
      const server = await startHttpServer({ ...place, handler });
      servers.push(server);
      log.info("Listening", { address: server.shown, flag });
      options.onDebugListening?.(server.address);
    }
    if (secure) {
      const { alwaysAllowPaths } = secure;
      const reviewer = createDelegatedReviewer(options.client, createReviewMetrics(metrics));
      const createHandler = (stopped: AbortSignal): Handler =>
        guardAccess(handler, { reviewer, alwaysAllowPaths, clock, log, signal: stopped });
      const place = { secure, flag: "--secure-port", hostFlag: "--bind-address", createHandler };
      servers.push(await startCertifiedServer(options, place, signal));
    }
    for (const { controller } of parts.controllers) {
      const { managementListener: listener } = controller;
      if (listener === undefined) continue;
      // Imported only here: few processes need it.
      const { startRedfishListener } = await import("./redfish_listener.ts");
      servers.push(await startRedfishListener(options, listener, signal));
    }
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop(0)));
    throw error;
  }
  return servers;
}
