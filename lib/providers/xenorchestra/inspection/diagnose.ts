/**
 * Diagnoses problems with Xen Orchestra: says why Landfall cannot use it, and what an operator can do.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import { diagnoseConnection, diagnoseSilence, toFailure } from "../../../cloud_http/diagnosis.ts";
import { isTimeout } from "../../../core/clock.ts";
import { formatHostPort } from "../../../core/net/connection_problem.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { RIGHTS_ADVICE } from "../model/presence.ts";
import { SERVER_NAMES } from "../session/session.ts";

type Settings = Pick<XenOrchestraSettings, "url" | "credentials" | "certificateFingerprint">;

/**
 * Finds out why a request failed: from its error, or, if the error does not say, by a second look at the server.
 *
 * @param error The error of the request; a timeout of the caller counts as no answer
 * @throws any error that is no failure of the cloud, and the signal's reason
 */
export async function diagnose(
  error: unknown,
  settings: Settings,
  signal: AbortSignal,
): Promise<Finding> {
  const isLate = isTimeout(error);
  if (!(error instanceof CloudError) && !isLate) throw error;
  if (error instanceof CloudError && error.status !== undefined) {
    return diagnoseReply(error, error.status, settings);
  }
  if (error instanceof CloudError && error.kind === "throttled") return toThrottled(error.message);
  const asked = { server: settings, names: SERVER_NAMES, signal };
  const found = await diagnoseConnection(error, asked);
  if (found) return found;
  if (error instanceof CloudError && error.kind === "protocol")
    return toWrongService(error.message);
  return await diagnoseSilence(asked);
}

function diagnoseReply(error: CloudError, status: number, { url, credentials }: Settings): Finding {
  const where = `Xen Orchestra at ${formatHostPort(url)}`;
  if (status === 401) {
    return toFailure(
      "unauthorized",
      `${where} does not accept the credentials (401)`,
      {
        token:
          "the token is wrong, expired or revoked: create a new one and set token or XOA_TOKEN; " +
          "before Xen Orchestra 6.4 its user must be an administrator",
        tokenFile: "the token in tokenFile is wrong, expired or revoked: create a new one",
        password:
          "the username or the password is wrong, or the user needs a one-time password: in that case use a token",
      }[credentials.kind],
    );
  }
  if (status === 403) {
    return toFailure(
      "forbidden",
      `${where} knows the credentials, but denies access (403)`,
      RIGHTS_ADVICE,
    );
  }
  if (error.kind === "throttled") return toThrottled(error.message);
  if (status >= 300 && status < 400) {
    return toFailure(
      "redirect",
      error.message,
      "Landfall never sends credentials to another address; it follows redirects within the same address only",
    );
  }
  if (status >= 500) {
    const advice =
      "Xen Orchestra may be starting or have a problem: read the log of xo-server, and try again";
    return toFailure("serverError", `${where} answers with an error (${status})`, advice);
  }
  return toWrongService(error.message);
}

/** Creates the finding that the server that answers is not Xen Orchestra. */
export function toWrongService(message: string): Finding {
  return toFailure(
    "wrongService",
    message,
    "url must be that of Xen Orchestra itself (https://host, without /rest/v0) in version 5.112 or newer; " +
      "check that no proxy or sign-in page is in front of it",
  );
}

function toThrottled(message: string): Finding {
  const advice =
    "a sign-in just failed, or there are too many requests: wait some seconds and try again";
  return toFailure("throttled", message, advice);
}
