/**
 * What it means when a server gave no answer, in words that a person can act on.
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

/** Whether the server's certificate was not believed. Nothing was sent then. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test(findErrorCode(error));
}

/** What to do about a certificate out of its dates. */
export function adviseOnDates(
  fault: "tlsExpired" | "tlsNotYetValid",
  names: Pick<ServerNames, "caFile">,
): string {
  return fault === "tlsExpired"
    ? `renew it, or put its authority's new one into ${names.caFile}, and check the clocks`
    : NOT_YET_VALID_ADVICE;
}

/**
 * What a failed `fetch` means. A certificate that is not trusted needs a person; everything else may pass.
 *
 * @param url Where the server is; only host and port are shown
 */
export function toConnectionError(error: unknown, url: string, names: ServerNames): CloudError {
  if (error instanceof CloudError) return error;
  if (error instanceof BodyError) {
    const what = `Cannot read what ${names.server} sent from ${formatHostPort(url)}`;
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
