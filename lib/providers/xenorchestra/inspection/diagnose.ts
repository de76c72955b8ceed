/**
 * Says what keeps Landfall from Xen Orchestra, and what a person can do about it.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import { diagnoseConnection, diagnoseSilence, toFailure } from "../../../cloud_http/diagnosis.ts";
import { isTimeout } from "../../../core/clock.ts";
import { formatHostPort } from "../../../core/net/connection_problem.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { RIGHTS_ADVICE } from "../rights.ts";
import { SERVER_NAMES } from "../session/session.ts";

type Settings = Pick<XenOrchestraSettings, "url" | "credentials" | "certificateFingerprint">;

/**
 * Finds out why a request failed: by its error, and where that does not tell, by a second look at the server.
 *
 * @param error What the request was rejected with; a time-out of the caller's counts as no answer
 * @throws what is no failure of a cloud, and the signal's reason
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
          "the token is wrong, expired or revoked: make a new one and put it into token or XOA_TOKEN; " +
          "before Xen Orchestra 6.4 its user must be an administrator",
        tokenFile: "the token in tokenFile is wrong, expired or revoked: make a new one",
        password:
          "the username or the password is wrong, or the user needs a one-time password: use a token then",
      }[credentials.kind],
    );
  }
  if (status === 403) {
    return toFailure(
      "forbidden",
      `${where} knows the credentials, but gives them no access (403)`,
      RIGHTS_ADVICE,
    );
  }
  if (error.kind === "throttled") return toThrottled(error.message);
  if (status >= 300 && status < 400) {
    return toFailure(
      "redirect",
      error.message,
      "credentials are never sent to another address unasked; redirects within the same one are followed",
    );
  }
  if (status >= 500) {
    const advice = "it may be starting or in trouble: look at the log of xo-server, and try again";
    return toFailure("serverError", `${where} answers with an error (${status})`, advice);
  }
  return toWrongService(error.message);
}

/** What answers is no Xen Orchestra. */
export function toWrongService(message: string): Finding {
  return toFailure(
    "wrongService",
    message,
    "url must be that of Xen Orchestra itself (https://host, without /rest/v0) in version 5.112 or newer; " +
      "check that no proxy or sign-in page stands in front of it",
  );
}

function toThrottled(message: string): Finding {
  const advice = "a sign-in failed a moment ago, or too many ask: wait some seconds and try again";
  return toFailure("throttled", message, advice);
}
