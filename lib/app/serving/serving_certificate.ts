/**
 * The certificate of a port: from files, or made by Landfall. Files are read again, and own certificates
 * renewed.
 * @module
 */
import type { ManagementPlace } from "../../controllers/definition.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import {
  type CertifiedPort,
  HTTPS_PORT,
  readKeyPair,
  watchKeyPair,
} from "../../http/certificate/key_pair.ts";
import { makeSelfSigned } from "../../http/certificate/self_signed.ts";
import type { Accepted } from "../../http/sockets/exchange.ts";
import {
  type Handler,
  type HttpServer,
  type KeyPair,
  startHttpServer,
} from "../../http/sockets/server.ts";
import type { AppOptions, SecureSettings } from "../options.ts";

/** What a server with a certificate needs of its process. */
export type CertifiedProcess = Pick<AppOptions, "clock" | "connectionsMax" | "host" | "log">;

/** What {@linkcode loadServingCertificate} needs. */
interface ServingCertificateOptions {
  readonly secure: Pick<SecureSettings, "address" | "certFile" | "keyFile">;
  /** @default {the HTTPS port} */
  readonly port?: CertifiedPort;
  /** Further names of a certificate that Landfall makes. @default {none} */
  readonly names?: readonly string[];
  /** Name of this host. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A certificate that Landfall keeps valid. */
interface ServingCertificate {
  readonly keyPair: KeyPair;
  /** Calls `use` with every later certificate, until the signal aborts. */
  watch(use: (keyPair: KeyPair) => void, signal: AbortSignal): Promise<void>;
}

/** A certificate of our own lasts a year. */
const RENEW_MS = 335 * 24 * 3_600_000;
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Reads the files. Without files it makes a certificate.
 *
 * @throws {ConfigError} with the flag, the file and the problem
 */
export async function loadServingCertificate(
  options: ServingCertificateOptions,
): Promise<ServingCertificate> {
  const { secure, port = HTTPS_PORT, clock, log } = options;
  const { certFile, keyFile } = secure;
  if (certFile !== undefined && keyFile !== undefined) {
    const files = { certFile, keyFile };
    const keyPair = await readKeyPair(files, port);
    return {
      keyPair,
      watch: (use, signal) =>
        watchKeyPair({ ...files, current: keyPair, clock, log, use, port }, signal),
    };
  }
  const names = listNames(options);
  const keyPair = makeSelfSigned(names, clock.now());
  log.info(`Made a self-signed certificate for ${port.name}`, { names: names.join(" ") });
  return {
    keyPair,
    async watch(use, signal) {
      for (;;) {
        await clock.sleep(RENEW_MS, signal).catch(() => {});
        if (signal.aborted) return;
        use(makeSelfSigned(names, clock.now()));
        log.info(`Made a new certificate for ${port.name}`);
      }
    },
  };
}

/** A server to start, which stops to use its certificate when it stops. */
interface CertifiedServerOptions extends Pick<
  ServingCertificateOptions,
  "names" | "port" | "secure"
> {
  /** The flag of the address, and that of the host if it is another one. */
  readonly flag: string;
  readonly hostFlag?: string;
  /** @default {requests for pages} */
  readonly accepted?: Accepted;
  /** @param stopped Aborts after the server has stopped */
  createHandler(stopped: AbortSignal): Handler;
}

/**
 * Starts an HTTPS server, and lets it use each later certificate until it stops.
 *
 * @param signal Gives up starting. It does not stop the server
 * @throws {ConfigError} when the address cannot be listened at, or the certificate cannot be used
 */
export async function startCertifiedServer(
  { clock, log, host, connectionsMax }: CertifiedProcess,
  { secure, port = HTTPS_PORT, names = [], createHandler, ...place }: CertifiedServerOptions,
  signal: AbortSignal,
): Promise<HttpServer> {
  const certificate = await loadServingCertificate({ secure, port, names, host, clock, log });
  const stopped = new AbortController();
  const handler = createHandler(stopped.signal);
  const { address } = secure;
  const { keyPair } = certificate;
  const common = { connectionsMax, clock, log, signal };
  const server = await startHttpServer({ ...common, ...place, address, handler, keyPair });
  log.info("Listening", { address: server.shown, flag: place.flag });
  const watching = certificate.watch((fresh) => server.useKeyPair(fresh), stopped.signal);
  return {
    ...server,
    async stop(graceMs) {
      await server.stop(graceMs);
      stopped.abort();
      await watching;
    },
  };
}

function listNames({
  secure: { address },
  host,
  names: more = [],
}: ServingCertificateOptions): string[] {
  const names = new Set(["localhost", "127.0.0.1", "::1", ...more]);
  // A system can have any name, but a certificate accepts only these characters.
  if (/^[\w.-]+$/.test(host)) names.add(host);
  if (address.kind === "tcp" && !UNSPECIFIED.has(address.host)) names.add(address.host);
  return [...names];
}

/** What messages call the port by which clients manage machines. */
export function toManagementPort({ flags }: Pick<ManagementPlace, "flags">): CertifiedPort {
  return {
    name: `the port of ${flags.address}`,
    certFlag: flags.certFile,
    keyFlag: flags.keyFile,
  };
}

/** Reads the files with the certificate, if there are any, as the listener does. @throws {ConfigError} */
export async function checkManagementFiles(place: ManagementPlace): Promise<void> {
  const { certFile, keyFile } = place;
  if (certFile === undefined || keyFile === undefined) return;
  await readKeyPair({ certFile, keyFile }, toManagementPort(place));
}
