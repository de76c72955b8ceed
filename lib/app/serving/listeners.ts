/**
 * The HTTP listeners of a process, and the data behind their pages.
 * @module
 */
import { toElectionChecks } from "../leadership.ts";
import type { AppOptions, SecureSettings } from "../options.ts";
import type { Parts } from "../parts.ts";
import { keepCertified, loadServingCertificate } from "./serving_certificate.ts";
import {
  formatDefinition,
  listObjectPages,
  toDebugOptions,
  toProcessView,
  toSipClusterSource,
  toVinoSource,
} from "./views.ts";
import { guardAccess } from "../../http/access.ts";
import { createPages } from "../../http/pages.ts";
import type { Check } from "../../http/probes.ts";
import { type Handler, type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import {
  createDelegatedReviewer,
  createReviewMetrics,
} from "../../kube/access/delegated_review.ts";
import type { CacheState } from "../../kube/cache/caches.ts";

/**
 * Starts every listener of the options.
 *
 * @param signal Ends the start. It stops no running listener
 * @throws {ConfigError} when it cannot listen at an address
 */
export async function startListeners(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<HttpServer[]> {
  const { clock, log, metrics, debugAddress, secure, configz, connectionsMax } = options;
  const { cloud, controllers } = parts;
  const now = (): number => clock.now();
  const sipClusters = toSipClusterSource(parts);
  const vinos = toVinoSource(parts);
  const pages = createPages({
    probes: { checks: toChecks(parts), renderMetrics: () => metrics.render() },
    debug: cloud && toDebugOptions(options, { ...parts, cloud }),
    readProcess: () => toProcessView(options, parts),
    sipClusters: sipClusters && { sipClusters, now },
    vinos: vinos && { vinos, now },
    objects: listObjectPages(controllers),
    configz,
    log,
  });
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
    for (const { controller } of controllers) {
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

/**
 * The process is ready once the memory has everything that a decision needs. Readiness does not depend on leadership,
 * or on whether the cloud answers at the moment.
 */
export function toChecks({ caches, cloud, electors }: Parts): Check[] {
  const needed = (): readonly CacheState[] => caches.states.filter((one) => !one.isOptional);
  const kinds = new Set(needed().map(({ resource }) => resource));
  const checks = [...kinds].map((kind): Check => {
    // If a kind is not installed, only its own controller waits for it.
    const isOk = (): boolean =>
      needed().every(({ resource, synced, missing }) => resource !== kind || synced || missing);
    const note = (): string | undefined => {
      const missing = needed().find((one) => one.resource === kind && one.missing);
      return missing && `waiting for CustomResourceDefinition ${formatDefinition(missing)}`;
    };
    return { name: `${kind}-synced`, probes: ["readyz"], isOk, note };
  });
  if (cloud) {
    const isOk = (): boolean => cloud.source.current !== undefined;
    checks.push({ name: "inventory-taken", probes: ["readyz"], isOk });
  }
  return [...checks, ...toElectionChecks(electors)];
}

const FLAG = "--secure-port";

/**
 * Starts the HTTPS port.
 *
 * @param signal Gives up starting. It does not stop the listener
 * @throws {ConfigError} when the address cannot be listened at, or the certificate cannot be used
 */
async function startSecureListener(
  { client, clock, log, metrics, host, connectionsMax }: AppOptions,
  secure: SecureSettings,
  { pages, signal }: { readonly pages: Handler; readonly signal: AbortSignal },
): Promise<HttpServer> {
  const { address, alwaysAllowPaths } = secure;
  const certificate = await loadServingCertificate({ secure, host, clock, log });
  const stopped = new AbortController();
  const reviewer = createDelegatedReviewer(client, createReviewMetrics(metrics));
  const access = { reviewer, alwaysAllowPaths, clock, log, signal: stopped.signal };
  const handler = guardAccess(pages, access);
  const { keyPair } = certificate;
  const place = {
    address,
    connectionsMax,
    flag: FLAG,
    hostFlag: "--bind-address",
    clock,
    log,
    signal,
  };
  const server = await startHttpServer({ ...place, handler, keyPair });
  log.info("Listening", { address: server.shown, flag: FLAG });
  return keepCertified(server, certificate, stopped);
}
