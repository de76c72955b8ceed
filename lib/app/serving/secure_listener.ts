/**
 * The HTTPS port: the pages behind access control, with a certificate that Landfall renews.
 * @module
 */
import { guardAccess } from "../../http/access/access.ts";
import { type Handler, type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import {
  createDelegatedReviewer,
  createReviewMetrics,
} from "../../kube/access/delegated_review.ts";
import type { AppOptions, SecureSettings } from "../options.ts";
import { keepCertified, loadServingCertificate } from "./serving_certificate.ts";

const FLAG = "--secure-port";

/**
 * Starts the HTTPS port.
 *
 * @param signal Gives up starting. It does not stop the listener
 * @throws {ConfigError} when the address cannot be listened at, or the certificate cannot be used
 */
export async function startSecureListener(
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
