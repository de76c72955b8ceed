/**
 * Says in our own words why a connection failed. The runtime's sentences are for its developers, not for operators.
 * @module
 */
import { listCauses } from "../errors.ts";

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

/** The short code of an error, such as `ECONNREFUSED`; empty without one. */
export function findErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** Whether the other side dropped the connection, which happens to kept connections without traffic. */
export function isReset(error: unknown): boolean {
  return FAULT_BY_CODE.get(findErrorCode(error))?.words === CLOSED;
}

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
