/**
 * Whom to trust: a list of authorities, one pinned certificate, or anybody.
 * @module
 */
import type { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { CloudError } from "../../../cloud/errors.ts";
import { formatHostPort, toConnectionProblem } from "../../../core/net/connection_problem.ts";
import { readServerCertificate } from "../../../core/net/server_certificate.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { CaFile } from "./ca_file.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";

/** The `tls` option of `fetch`. */
export interface FetchTls {
  ca?: string;
  rejectUnauthorized?: boolean;
  checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
}

type TrustSettings = Pick<
  XenOrchestraSettings,
  "url" | "insecure" | "caFile" | "certificateFingerprint"
>;

/** Settings of TLS towards one server, as fresh as the files they come from. */
export class Trust {
  readonly #settings: TrustSettings;
  readonly #caFile: CaFile | undefined;
  /** What was made of the pin last, and the authorities beside it. */
  #pinned: { readonly ca: string | undefined; readonly tls: FetchTls } | undefined;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(settings: TrustSettings, deps: Pick<ProviderDeps, "clock" | "log">) {
    this.#settings = settings;
    this.#caFile = settings.caFile === undefined ? undefined : new CaFile(settings.caFile, deps);
  }

  /**
   * The `tls` option for the next request.
   *
   * With a pin and no authorities, the server's certificate is fetched once and compared: a self-signed one (as Xen
   * Orchestra makes for itself, without any name in it) then is its own authority. `fetch` asks `checkServerIdentity`
   * only when it verifies, so a pin is never combined with `rejectUnauthorized: false`.
   *
   * @throws {CloudError} `protocol` for another certificate than the pinned one, `unreachable` when there is none
   */
  async read(signal: AbortSignal): Promise<FetchTls> {
    const { insecure, certificateFingerprint: pin, url } = this.#settings;
    if (!url.startsWith("https:")) return {};
    if (pin === undefined && insecure) return { rejectUnauthorized: false };
    const ca = await this.#caFile?.read();
    if (pin === undefined) return ca === undefined ? {} : { ca };
    if (this.#pinned === undefined || this.#pinned.ca !== ca) {
      this.#pinned = { ca, tls: await this.#pin(pin, ca, signal) };
    }
    return this.#pinned.tls;
  }

  /**
   * Tells that a server was not believed: its certificate may have been replaced, and the file of its authority, too.
   *
   * @param used What {@linkcode read} gave for the request that failed
   * @returns Whether `read` gives something else now, so that trying again makes sense
   * @throws {CloudError} when the server now shows another certificate than the pinned one, or none
   */
  async doubt(used: FetchTls, signal: AbortSignal): Promise<boolean> {
    await this.#caFile?.reload();
    // Many requests may fail together: only the first of them lets the certificate be fetched anew.
    if (this.#pinned?.tls === used) this.#pinned = undefined;
    return (await this.read(signal)).ca !== used.ca;
  }

  async #pin(pin: string, ca: string | undefined, signal: AbortSignal): Promise<FetchTls> {
    const checkServerIdentity: FetchTls["checkServerIdentity"] = (_host, { fingerprint256 }) =>
      normalise(fingerprint256) === pin ? undefined : toMismatch(fingerprint256);
    if (ca !== undefined) return { ca, checkServerIdentity };
    const certificate = await readCertificate(this.#settings.url, signal);
    if (normalise(certificate.fingerprint256) !== pin) throw toMismatch(certificate.fingerprint256);
    const selfSigned = certificate.checkIssued(certificate);
    return selfSigned
      ? { ca: certificate.toString(), checkServerIdentity }
      : { checkServerIdentity };
  }
}

/** A fingerprint as `certificateFingerprint` holds it: hexadecimal digits in lower case. */
export function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}

function toMismatch(fingerprint: string): CloudError {
  return new CloudError(
    "protocol",
    `Cannot trust Xen Orchestra: its certificate has the SHA-256 fingerprint ${fingerprint}, ` +
      "not the one in certificateFingerprint; if the certificate was replaced on purpose, change the setting",
  );
}

async function readCertificate(url: string, signal: AbortSignal): Promise<X509Certificate> {
  try {
    return await readServerCertificate(url, signal);
  } catch (error) {
    signal.throwIfAborted();
    const cause = toConnectionProblem(error);
    const what = `Cannot reach Xen Orchestra at ${formatHostPort(url)} to see its certificate`;
    throw new CloudError("unreachable", `${what}: ${cause.message}; check url`, { cause });
  }
}
