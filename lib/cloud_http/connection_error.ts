/**
 * Why a server gave no answer, in words that an operator can act on.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import { BodyError } from "../core/net/body.ts";
import { findConnectionFault } from "../core/net/connection_fault.ts";
import {
  findErrorCode,
  formatHostPort,
  toConnectionProblem,
} from "../core/net/connection_problem.ts";
import { NOT_YET_VALID_ADVICE } from "../core/net/server_certificate.ts";
import type { ServerNames } from "./server.ts";

const UNTRUSTED = /CERT|TLS|VERIFY|ISSUER/;

/** Whether the server's certificate was not trusted. Nothing was sent then. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test(findErrorCode(error));
}

/** What to do about a certificate that has expired or is not valid yet. */
export function adviseOnDates(
  fault: "tlsExpired" | "tlsNotYetValid",
  names: Pick<ServerNames, "caFile">,
): string {
  return fault === "tlsExpired"
    ? `renew it, or put its authority's new one into ${names.caFile}, and check the clocks`
    : NOT_YET_VALID_ADVICE;
}

/**
 * Explains a failed `fetch`. A certificate that is not trusted needs an operator; other failures may pass.
 *
 * @param url Where the server is; only host and port are shown
 */
export function toConnectionError(error: unknown, url: string, names: ServerNames): CloudError {
  if (error instanceof CloudError) return error;
  if (error instanceof BodyError) {
    const what = `Cannot read the answer of ${names.server} at ${formatHostPort(url)}`;
    return new CloudError("protocol", `${what}: ${error.message}`, { cause: error });
  }
  const cause = toConnectionProblem(error);
  const isTrust = isUntrusted(cause);
  const fault = findConnectionFault(cause);
  const trust =
    fault === "tlsExpired" || fault === "tlsNotYetValid"
      ? adviseOnDates(fault, names)
      : `set ${names.caFile} or ${names.certificateFingerprint}`;
  const advice = isTrust ? trust : `check ${names.url}`;
  return new CloudError(
    isTrust ? "protocol" : "unreachable",
    `Cannot reach ${names.server} at ${formatHostPort(url)}: ${cause.message}; ${advice}`,
    { cause },
  );
}
