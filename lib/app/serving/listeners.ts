/**
 * The HTTP listeners of a process, and what their pages stand on.
 * @module
 */
import { createPages } from "../../http/pages.ts";
import type { Check } from "../../http/probes.ts";
import { type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import { toElectionChecks } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { CacheState } from "../../kube/cache/caches.ts";
import type { Parts } from "../parts.ts";
import { listObjectPages, toDebugOptions } from "./debug_views.ts";
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
  const objects = listObjectPages(parts.controllers);
  const pages = createPages({ probes, log, objects, ...debug, ...(configz && { configz }) });
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
export function toChecks({ caches, cloud, elector }: Parts): Check[] {
  const needed = (): readonly CacheState[] => caches.states.filter((one) => !one.isOptional);
  const kinds = new Set(needed().map(({ resource }) => resource));
  const checks = [...kinds].map((kind): Check => {
    // A kind that is not installed is waited for by its controller alone.
    const isOk = (): boolean =>
      needed().every(({ resource, synced, missing }) => resource !== kind || synced || missing);
    return { name: `${kind}-synced`, probes: ["readyz"], isOk };
  });
  if (cloud) {
    const isOk = (): boolean => cloud.source.current !== undefined;
    checks.push({ name: "inventory-taken", probes: ["readyz"], isOk });
  }
  return [...checks, ...toElectionChecks(elector)];
}
