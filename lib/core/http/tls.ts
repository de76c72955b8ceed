/**
 * Which TLS Landfall speaks, as a server and as a client.
 * @module
 */
import { X509Certificate } from "node:crypto";
import { connect, type ConnectionOptions, type PeerCertificate } from "node:tls";
import { systemClock, withDeadline } from "../clock.ts";
import {
  ConnectionProblem,
  findErrorCode,
  toConnectionProblem,
  toHostPort,
} from "./connection_problem.ts";

/**
 * Suites of TLS 1.2 with forward secrecy and authenticated encryption, by OpenSSL's names. TLS 1.3 has no others.
 * The server and the client choose the first of the server's list that both have.
 */
export const TLS_CIPHERS: string = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** How a connection is secured. All certificates and keys are checked PEM. */
export interface TlsSettings {
  /** The only trusted authorities. Absent: those that the runtime trusts. */
  readonly ca?: string;
  /** Client certificate, with {@linkcode TlsSettings.key}. */
  readonly cert?: string;
  readonly key?: string;
  /** Name that the server's certificate must have, if it is not the host of the address. */
  readonly serverName?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
  /** Checks a certificate instead of its names. @returns Why it is refused */
  readonly checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
}

/** Settings of a connection, in the words of the runtime. */
export function toRuntimeTls({
  insecure = false,
  ...tls
}: TlsSettings): Omit<TlsSettings, "insecure"> & { rejectUnauthorized: boolean; ciphers: string } {
  return { ...tls, rejectUnauthorized: !insecure, ciphers: TLS_CIPHERS };
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A text that is not a bundle of certificates. The message follows the place of the text and a colon. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/**
 * The certificates in a text, without the text around them.
 *
 * @returns At least one
 * @throws {CertificateError} when there is none, or one cannot be decoded
 */
export function parseCertificates(pem: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pem.match(BLOCK) ?? [];
  const [first, ...others] = blocks.map((block, at) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      const which = `certificate ${at + 1} of ${blocks.length}`;
      throw new CertificateError(`${which} cannot be decoded: damaged PEM`, { cause });
    }
  });
  if (first === undefined) throw new CertificateError("contains no certificate in PEM");
  return [first, ...others];
}

/** Longest time for a look, in milliseconds. */
const LOOK_MS = 5_000;
const NOT_YET_VALID = "CERT_NOT_YET_VALID";
const EXPIRED = "CERT_HAS_EXPIRED";

/** What to do about a certificate that is not valid yet. */
export const NOT_YET_VALID_ADVICE =
  "check this machine's clock; if it is right, the clock of the machine that made the certificate was wrong";

/**
 * Reads the certificate of a server, without trusting it. Sends nothing.
 *
 * @param url Where the server is
 * @param signal Must carry the deadline
 * @param serverName Name to ask for. @default {the host of the address, unless that is an IP address}
 * @throws {ConnectionProblem} when it sends none, or the signal's reason
 */
export async function readServerCertificate(
  url: string,
  signal: AbortSignal,
  serverName?: string,
): Promise<X509Certificate> {
  const { host, port } = toHostPort(url);
  // Also of a server whose ciphers Landfall refuses.
  const options: ConnectionOptions = { host, port, rejectUnauthorized: false, ciphers: "ALL" };
  const isAddress = /^[\d.]+$|:/.test(host);
  if (serverName !== undefined || !isAddress) options.servername = serverName ?? host;
  signal.throwIfAborted();
  const der = await new Promise<Buffer>((resolve, reject) => {
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
      reject(toConnectionProblem(error));
    });
  });
  return new X509Certificate(der);
}

/**
 * The same error, unless the server's certificate, or one above it, has expired or is not valid yet: then an error with
 * the dates.
 *
 * @param error What a request was rejected with
 * @param url Where it was sent
 * @param signal That of the request
 * @param serverName As for {@linkcode readServerCertificate}
 */
export async function explainDates(
  error: unknown,
  url: string,
  signal: AbortSignal,
  serverName?: string,
): Promise<unknown> {
  const code = findErrorCode(error);
  if (code !== EXPIRED && code !== NOT_YET_VALID) return error;
  try {
    const looking = withDeadline(signal, LOOK_MS);
    const certificate = await readServerCertificate(url, looking, serverName);
    const words = describeDates(certificate, code === NOT_YET_VALID, systemClock.now());
    return new ConnectionProblem(code, `certificate not trusted: ${words}`);
  } catch {
    // This only adds detail to a known error.
    return error;
  }
}

/**
 * Says which date of a certificate is wrong now.
 *
 * @param certificate The server's own
 * @param isEarly Whether it, or an authority above it, is not valid yet; else one of them has expired
 * @param nowMs Milliseconds since the epoch, by this machine's clock
 */
export function describeDates(
  { validFrom, validTo }: Pick<X509Certificate, "validFrom" | "validTo">,
  isEarly: boolean,
  nowMs: number,
): string {
  const now = `this machine's clock says ${toTime(nowMs)}`;
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (isEarly) {
    return nowMs < fromMs
      ? `it is not valid yet: valid from ${toTime(fromMs)}, and ${now}`
      : `it is valid, but an authority above it is not valid yet, and ${now}`;
  }
  return nowMs > toMs
    ? `it has expired: valid until ${toTime(toMs)}, and ${now}`
    : `it is valid, but an authority above it has expired, and ${now}`;
}

/** To the second, as certificates have it. */
function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
