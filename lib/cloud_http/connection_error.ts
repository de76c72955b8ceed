/**
 * Explains to operators why a server gave no answer, and what to do.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import { BodyError } from "../core/http/request.ts";
import {
  findConnectionFault,
  findErrorCode,
  formatHostPort,
  NOT_YET_VALID_ADVICE,
  toConnectionProblem,
} from "../core/http/connection.ts";
import type { ServerNames } from "./server.ts";

const UNTRUSTED = /CERT|TLS|VERIFY|ISSUER/;

/** Whether Landfall did not trust the server's certificate. It sent nothing in that case. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test(findErrorCode(error));
}

/** Says what to do about a certificate that has expired or is not valid yet. */
export function adviseOnDates(
  fault: "tlsExpired" | "tlsNotYetValid",
  names: Pick<ServerNames, "caFile">,
): string {
  return fault === "tlsExpired"
    ? `renew it, or put the new certificate of its authority into ${names.caFile}, and check the clocks`
    : NOT_YET_VALID_ADVICE;
}

/**
 * Explains a failed `fetch`. An untrusted certificate needs an operator; other failures may pass.
 *
 * @param url URL of the server; the message shows only host and port
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
  // The address was right a moment ago: servers close connections when they stop or start.
  const closed = `${names.process} may be starting, or a proxy in between closed it`;
  const other = fault === "closed" ? closed : `check ${names.url}`;
  const advice = isTrust ? trust : other;
  return new CloudError(
    isTrust ? "protocol" : "unreachable",
    `Cannot reach ${names.server} at ${formatHostPort(url)}: ${cause.message}; ${advice}`,
    { cause },
  );
}
