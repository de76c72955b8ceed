/**
 * The HTTP listeners of a process, and what their pages stand on.
 * @module
 */
import type { NodeCloud } from "../../controllers/context.ts";
import { createPages } from "../../http/pages.ts";
import type { Check } from "../../http/probes.ts";
import { type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import { toElectionChecks } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";
import { toDebugOptions } from "./debug_views.ts";
import { startSecureListener } from "./secure_listener.ts";

/**
 * Starts every listener that the options ask for.
 *
 * @param signal Gives up starting. It stops no listener
 * @throws {ConfigError} when an address cannot be listened at
 */
export async function startListeners(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<HttpServer[]> {
  const { clock, log, metrics, debugAddress, secure, configz, connectionsMax } = options;
  const probes = { checks: toChecks(parts), renderMetrics: () => metrics.render() };
  const { cloud } = parts;
  const debug = cloud && { debug: toDebugOptions(options, { ...parts, cloud }) };
  const pages = createPages({ probes, log, ...debug, ...(configz && { configz }) });
  const servers: HttpServer[] = [];
  try {
    if (debugAddress) {
      const flag = "--debug-address";
      const place = { address: debugAddress, connectionsMax, flag, clock, log, signal };
      const server = await startHttpServer({ ...place, handler: pages });
      servers.push(server);
      log.info("Listening", { address: server.shown, flag });
      options.onDebugListening?.(server.address);
    }
    if (secure) servers.push(await startSecureListener(options, secure, { pages, signal }));
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop(0)));
    throw error;
  }
  return servers;
}

/** Ready once everything is in memory that a decision needs; not whether the cloud answers just now, or who leads. */
export function toChecks({ cloud, elector }: Parts): Check[] {
  return [...(cloud ? toCloudChecks(cloud) : []), ...toElectionChecks(elector)];
}

function toCloudChecks({ nodes, source }: NodeCloud): Check[] {
  return [
    { name: "nodes-synced", probes: ["readyz"], isOk: () => nodes.synced },
    { name: "inventory-taken", probes: ["readyz"], isOk: () => source.current !== undefined },
  ];
}
