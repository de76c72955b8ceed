/**
 * A connection to a server: where it is, how it is secured, and in our own words why it failed. The sentences of the
 * runtime are for its developers, not for operators.
 * @module
 */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";
import { connect as connectTls, type ConnectionOptions, type PeerCertificate } from "node:tls";
import { formatTime, systemClock, withDeadline } from "../clock.ts";
import { findErrorCode, listCauses } from "../errors.ts";

/** Host and port of a socket to an http or https address: an IPv6 address has no brackets. */
export function toHostPort(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
}

/** Host and port of an address, as `xo.example.org:443`: never its path, nor a user or password in it. */
export function formatHostPort(url: string): string {
  return `${new URL(url).hostname}:${toHostPort(url).port}`;
}

/** A text without slashes at its end. A regular expression (`/+$`) takes quadratic time: seconds for long rows. */
export function trimSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/**
 * Opens a connection and closes it again. Sends nothing.
 *
 * @throws the error of the socket, or an error when the signal aborts
 */
export async function tryConnect(target: NetConnectOpts, signal: AbortSignal): Promise<void> {
  const socket = connect(target);
  // It may still fail after the abort, when `once` no longer listens.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect", { signal });
  } finally {
    socket.destroy();
  }
}

/**
 * Why a connection failed. The message is a phrase such as `connection refused`, to follow the name of the server. An
 * error that wraps it repeats the phrase, so that {@linkcode describeError} shows it once.
 */
export class ConnectionProblem extends Error {
  override readonly name = "ConnectionProblem";
  /** Code of the runtime, such as `ECONNREFUSED`; empty when it gave none. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const CLOSED = "the connection was closed before the answer was complete";
const REFUSED = "connection refused";
const TIMED_OUT = "timed out";
const NO_ROUTE = "there is no route to it";
const NO_DNS = "the DNS lookup failed";
const UNTRUSTED = "certificate not trusted";
const UNKNOWN_AUTHORITY = `${UNTRUSTED}: its authority is unknown`;
const OTHER_NAME = `${UNTRUSTED}: it is for another name`;

const HANDSHAKE =
  "TLS handshake failed: the port does not use TLS, or has no cipher with ECDHE and AEAD";

/**
 * Where a connection failed.
 *
 * - `dns`: the name has no address here
 * - `refused`: nothing listens there
 * - `timeout`: no answer, to the connection or to the request
 * - `noRoute`: the network has no route to it
 * - `closed`: the connection ended before the answer did
 * - `tlsAuthority`: no trusted authority signed the certificate
 * - `tlsName`: the certificate is for another name
 * - `tlsExpired`: the certificate is out of date
 * - `tlsNotYetValid`: the certificate is not valid yet, by this machine's clock
 * - `tls`: anything else about certificates
 * - `notTls`: the server does not speak TLS
 * - `proxy`: the proxy did not connect
 */
export type ConnectionFault =
  | "dns"
  | "refused"
  | "timeout"
  | "noRoute"
  | "closed"
  | "tlsAuthority"
  | "tlsName"
  | "tlsExpired"
  | "tlsNotYetValid"
  | "tls"
  | "notTls"
  | "proxy";

/** The fault and the words of each code that servers and networks cause every day. */
const FAULTS: readonly (readonly [code: string, fault: ConnectionFault, words: string])[] = [
  ["ECONNREFUSED", "refused", REFUSED],
  ["ConnectionRefused", "refused", REFUSED],
  ["ENOTFOUND", "dns", "name not found"],
  ["EAI_AGAIN", "dns", NO_DNS],
  ["EAI_NODATA", "dns", NO_DNS],
  ["ESERVFAIL", "dns", NO_DNS],
  ["ETIMEDOUT", "timeout", TIMED_OUT],
  ["ConnectionTimeout", "timeout", TIMED_OUT],
  ["EHOSTUNREACH", "noRoute", NO_ROUTE],
  ["ENETUNREACH", "noRoute", NO_ROUTE],
  ["ECONNRESET", "closed", CLOSED],
  ["EPIPE", "closed", CLOSED],
  ["ConnectionClosed", "closed", CLOSED],
  ["ConnectionReset", "closed", CLOSED],
  ["FailedToOpenSocket", "closed", "no connection could be opened"],
  ["EPROTO", "notTls", HANDSHAKE],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "tls", HANDSHAKE],
  ["UnsupportedProxyProtocol", "proxy", "the address of the proxy is neither http nor https"],
  ["CERT_HAS_EXPIRED", "tlsExpired", `${UNTRUSTED}: it has expired`],
  [
    "CERT_NOT_YET_VALID",
    "tlsNotYetValid",
    `${UNTRUSTED}: it is not valid yet by this machine's clock`,
  ],
  ["CERT_REVOKED", "tls", `${UNTRUSTED}: it was revoked`],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tlsAuthority", `${UNTRUSTED}: it is self-signed`],
  ["SELF_SIGNED_CERT_IN_CHAIN", "tlsAuthority", `${UNTRUSTED}: an unknown authority signed it`],
  ["UNABLE_TO_GET_ISSUER_CERT", "tlsAuthority", UNKNOWN_AUTHORITY],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tlsAuthority", UNKNOWN_AUTHORITY],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tlsAuthority", UNKNOWN_AUTHORITY],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tlsName", OTHER_NAME],
  ["HOSTNAME_MISMATCH", "tlsName", OTHER_NAME],
];
const FAULT_BY_CODE = new Map(FAULTS.map(([code, fault, words]) => [code, { fault, words }]));

/** The faults of all other codes, which are shown unchanged. */
const OTHER_FAULTS: readonly (readonly [ConnectionFault, RegExp])[] = [
  ["timeout", /^TimeoutError$/],
  ["tlsAuthority", /SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|CERT_UNTRUSTED/],
  ["notTls", /^ERR_SSL_WRONG_VERSION_NUMBER$/],
  ["proxy", /PROXY/i],
  ["tls", /CERT|TLS|SSL|VERIFY/],
];

/** Explains a failed `fetch`, socket or body. A code without a phrase is shown unchanged. */
export function toConnectionProblem(error: unknown): ConnectionProblem {
  if (error instanceof ConnectionProblem) return error;
  const code = findErrorCode(error);
  const words = FAULT_BY_CODE.get(code)?.words;
  if (words !== undefined) return new ConnectionProblem(code, words);
  if (error instanceof Error && error.name === "TimeoutError") {
    return new ConnectionProblem(code, TIMED_OUT);
  }
  if (code === "ERR_PROXY_TUNNEL") {
    // Only the status separates a wrong password from a target that is not allowed.
    const [status] = (error instanceof Error && /\b[45]\d\d\b/.exec(error.message)) || [];
    const answer = status === undefined ? "" : `, with ${status}`;
    return new ConnectionProblem(code, `the proxy refused to connect to it${answer}`);
  }
  // Errors of the runtime have a code; one without a code is a bug of Landfall, which must not be hidden.
  if (code === "") return new ConnectionProblem(code, "the connection failed", { cause: error });
  const what = /CERT|ISSUER|VERIFY/.test(code) ? UNTRUSTED : "the connection failed";
  return new ConnectionProblem(code, `${what} (${code})`);
}

/** Whether the other side dropped the connection, which happens to kept connections without traffic. */
export function isReset(error: unknown): boolean {
  return FAULT_BY_CODE.get(findErrorCode(error))?.words === CLOSED;
}

/** The fault behind an error or one of its causes; `undefined` if it is not a connection fault. */
export function findConnectionFault(error: unknown): ConnectionFault | undefined {
  for (const one of listCauses(error)) {
    if (!(one instanceof Error)) return undefined;
    const code = findErrorCode(one) || one.name;
    const fault =
      FAULT_BY_CODE.get(code)?.fault ?? OTHER_FAULTS.find(([, codes]) => codes.test(code))?.[0];
    if (fault !== undefined) return fault;
  }
  return undefined;
}

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
    const socket = connectTls(options, () => {
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
  const now = `this machine's clock says ${formatTime(nowMs)}`;
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (isEarly) {
    return nowMs < fromMs
      ? `it is not valid yet: valid from ${formatTime(fromMs)}, and ${now}`
      : `it is valid, but an authority above it is not valid yet, and ${now}`;
  }
  return nowMs > toMs
    ? `it has expired: valid until ${formatTime(toMs)}, and ${now}`
    : `it is valid, but an authority above it has expired, and ${now}`;
}
