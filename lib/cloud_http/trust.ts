/**
 * Decides which certificates to trust: those of a list of authorities, one pinned certificate, or any.
 * @module
 */
import type { X509Certificate } from "node:crypto";
import { CloudError } from "../cloud/errors.ts";
import {
  formatHostPort,
  readServerCertificate,
  type TlsSettings,
  toConnectionProblem,
} from "../core/http/connection.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import { CaFile } from "./ca_file.ts";
import type { Server, ServerNames } from "./server.ts";

/** What a {@linkcode Trust} needs. */
interface TrustDeps {
  readonly names: ServerNames;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Gives the current TLS settings for one server. */
export class Trust {
  readonly #server: Server;
  readonly #names: ServerNames;
  readonly #caFile: CaFile | undefined;
  /** The TLS settings for the pinned certificate, and the authorities used to create them. */
  #pinned: { readonly ca: string | undefined; readonly tls: TlsSettings } | undefined;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(server: Server, { names, ...deps }: TrustDeps) {
    this.#server = server;
    this.#names = names;
    this.#caFile =
      server.caFile === undefined
        ? undefined
        : new CaFile(server.caFile, { ...deps, setting: names.caFile });
  }

  /**
   * The TLS settings for the next request.
   *
   * With a pin and no authorities, this method fetches the server's certificate once and compares it. A self-signed
   * certificate (as appliances create for themselves, without any name) then becomes its own authority. `fetch` calls
   * `checkServerIdentity` only when it verifies, so a pin is never combined with `insecure`.
   *
   * @throws {CloudError} `protocol` for a certificate other than the pinned one, `unreachable` if the server shows none
   */
  async read(signal: AbortSignal): Promise<TlsSettings> {
    const { insecure, certificateFingerprint: pin, url } = this.#server;
    if (!url.startsWith("https:")) return {};
    if (pin === undefined && insecure) return { insecure: true };
    const ca = await this.#caFile?.read();
    if (pin === undefined) return ca === undefined ? {} : { ca };
    if (this.#pinned === undefined || this.#pinned.ca !== ca) {
      this.#pinned = { ca, tls: await this.#pin(pin, ca, signal) };
    }
    return this.#pinned.tls;
  }

  /**
   * Reads the certificates again after Landfall did not trust the server: its certificate and the file may be new.
   *
   * @param used The result of {@linkcode read} for the request that failed
   * @returns Whether `read` now returns other settings, so that a retry makes sense
   * @throws {CloudError} if the server now shows a certificate other than the pinned one, or none
   */
  async recheck(used: TlsSettings, signal: AbortSignal): Promise<boolean> {
    await this.#caFile?.reload();
    // If many requests fail together, only the first fetches the certificate again.
    if (this.#pinned?.tls === used) this.#pinned = undefined;
    return (await this.read(signal)).ca !== used.ca;
  }

  async #pin(pin: string, ca: string | undefined, signal: AbortSignal): Promise<TlsSettings> {
    const checkServerIdentity: TlsSettings["checkServerIdentity"] = (_host, { fingerprint256 }) =>
      normalise(fingerprint256) === pin ? undefined : this.#toMismatch(fingerprint256);
    if (ca !== undefined) return { ca, checkServerIdentity };
    const certificate = await this.#readCertificate(signal);
    if (normalise(certificate.fingerprint256) !== pin)
      throw this.#toMismatch(certificate.fingerprint256);
    const selfSigned = certificate.checkIssued(certificate);
    return selfSigned
      ? { ca: certificate.toString(), checkServerIdentity }
      : { checkServerIdentity };
  }

  #toMismatch(fingerprint: string): CloudError {
    return new CloudError(
      "protocol",
      `Cannot trust ${this.#names.server}: its certificate has the SHA-256 fingerprint ${fingerprint}, ` +
        `not the one in ${this.#names.certificateFingerprint}; ` +
        "if you replaced the certificate, change the setting",
    );
  }

  async #readCertificate(signal: AbortSignal): Promise<X509Certificate> {
    const { url } = this.#server;
    try {
      return await readServerCertificate(url, signal);
    } catch (error) {
      signal.throwIfAborted();
      const cause = toConnectionProblem(error);
      const what = `Cannot reach ${this.#names.server} at ${formatHostPort(url)} to read its certificate`;
      const message = `${what}: ${cause.message}; check ${this.#names.url}`;
      throw new CloudError("unreachable", message, { cause });
    }
  }
}

/** Returns a fingerprint in the form of {@linkcode Server.certificateFingerprint}: hexadecimal digits in lower case. */
export function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}
