/**
 * Whom to trust: a list of authorities, one pinned certificate, or anybody.
 * @module
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type ConnectionOptions, type PeerCertificate } from "node:tls";
import { CloudError } from "../../cloud/errors.ts";
import { formatHostPort, toConnectionProblem } from "../../core/connection_problem.ts";
import { ConfigError } from "../../core/errors.ts";
import { describeFileProblem } from "../../core/file_problem.ts";
import type { XenOrchestraSettings } from "./config.ts";

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

/** Settings of TLS towards one server. */
export class Trust {
  readonly #settings: TrustSettings;
  readonly #ca: string | undefined;
  #pinned: FetchTls | undefined;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(settings: TrustSettings) {
    this.#settings = settings;
    this.#ca = settings.caFile === undefined ? undefined : readCa(settings.caFile);
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
    if (pin === undefined) {
      if (insecure) return { rejectUnauthorized: false };
      return this.#ca === undefined ? {} : { ca: this.#ca };
    }
    this.#pinned ??= await this.#pin(pin, signal);
    return this.#pinned;
  }

  async #pin(pin: string, signal: AbortSignal): Promise<FetchTls> {
    const checkServerIdentity: FetchTls["checkServerIdentity"] = (_host, { fingerprint256 }) =>
      normalise(fingerprint256) === pin ? undefined : toMismatch(fingerprint256);
    if (this.#ca !== undefined) return { ca: this.#ca, checkServerIdentity };
    const certificate = new X509Certificate(
      await readServerCertificate(this.#settings.url, signal),
    );
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

/**
 * Reads the certificate that a server shows, in DER form, without trusting it. Nothing is sent.
 *
 * @throws {CloudError} `unreachable` when it shows none, or the signal's reason
 */
export function readServerCertificate(url: string, signal: AbortSignal): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const options: ConnectionOptions = { host, port: Number(port || 443), rejectUnauthorized: false };
  if (!/^[\d.]+$|:/.test(host)) options.servername = host;
  return new Promise((resolve, reject) => {
    const socket = connect(options, () => {
      const { raw } = socket.getPeerCertificate();
      end();
      resolve(raw);
    });
    const abort = (): void => {
      end();
      reject(signal.reason);
    };
    const end = (): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.on("error", (error) => {
      end();
      const cause = toConnectionProblem(error);
      const what = `Cannot reach Xen Orchestra at ${formatHostPort(url)} to see its certificate`;
      reject(new CloudError("unreachable", `${what}: ${cause.message}; check url`, { cause }));
    });
  });
}

function readCa(path: string): string {
  const fail = (message: string, cause?: unknown): ConfigError =>
    new ConfigError([{ path: "caFile", message: `${path}: ${message}` }], { cause });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw fail(`cannot be read: ${describeFileProblem(cause)}`, cause);
  }
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw fail("holds no certificate in PEM form");
  for (const [at, block] of blocks.entries()) {
    try {
      // Bun reports a bad certificate as a wrong address, so look first.
      void new X509Certificate(block);
    } catch (cause) {
      throw fail(`certificate ${at + 1} of ${blocks.length} is not valid`, cause);
    }
  }
  return blocks.join("\n");
}
