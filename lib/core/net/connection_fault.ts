/**
 * Sorts failures between this process and a server by what an operator must do about them.
 * @module
 */
import { findErrorCode } from "./connection_problem.ts";
import { listCauses } from "../errors.ts";

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

const FAULTS: readonly (readonly [ConnectionFault, RegExp])[] = [
  ["dns", /^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|ESERVFAIL)$/],
  ["refused", /^(ECONNREFUSED|ConnectionRefused)$/],
  ["timeout", /^(ETIMEDOUT|ConnectionTimeout|TimeoutError)$/],
  ["noRoute", /^(EHOSTUNREACH|ENETUNREACH)$/],
  ["closed", /^(ECONNRESET|EPIPE|ConnectionClosed|ConnectionReset|FailedToOpenSocket)$/],
  ["tlsName", /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/],
  ["tlsExpired", /^CERT_HAS_EXPIRED$/],
  ["tlsNotYetValid", /^CERT_NOT_YET_VALID$/],
  ["tlsAuthority", /SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|CERT_UNTRUSTED/],
  ["notTls", /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)$/],
  ["proxy", /PROXY/i],
  ["tls", /CERT|TLS|SSL|VERIFY/],
];

/** The fault behind an error or one of its causes; `undefined` if it is not a connection fault. */
export function findConnectionFault(error: unknown): ConnectionFault | undefined {
  for (const one of listCauses(error)) {
    if (!(one instanceof Error)) return undefined;
    const code = findErrorCode(one) || one.name;
    const found = FAULTS.find(([, codes]) => codes.test(code));
    if (found !== undefined) return found[0];
  }
  return undefined;
}
