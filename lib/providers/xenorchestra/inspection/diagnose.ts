/**
 * Says what keeps Landfall from Xen Orchestra, and what a person can do about it.
 * @module
 */
import type { X509Certificate } from "node:crypto";
import { connect } from "node:net";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import { adviseOnDates } from "../../../cloud_http/connection_error.ts";
import { normalise } from "../../../cloud_http/trust.ts";
import { isTimeout, systemClock, withDeadline } from "../../../core/clock.ts";
import { type ConnectionFault, findConnectionFault } from "../../../core/net/connection_fault.ts";
import { formatHostPort, toHostPort } from "../../../core/net/connection_problem.ts";
import { describeDates, readServerCertificate } from "../../../core/net/server_certificate.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { RIGHTS_ADVICE } from "../rights.ts";
import { SERVER_NAMES } from "../session/session.ts";

type Settings = Pick<XenOrchestraSettings, "url" | "credentials" | "certificateFingerprint">;

/** Longest time for a second look at a server that did not do as it should, in milliseconds. */
const LOOK_MS = 5_000;

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
  const fault = findConnectionFault(error);
  if (fault !== undefined && fault !== "timeout" && fault !== "tls" && fault !== "closed") {
    return await diagnoseFault(fault, settings, signal);
  }
  if (settings.url.startsWith("https:")) {
    const pinned = await diagnosePin(settings, signal);
    if (pinned !== undefined) return pinned;
  }
  if (fault === "tls" || fault === "closed") return await diagnoseFault(fault, settings, signal);
  if (error instanceof CloudError && error.kind === "protocol")
    return toWrongService(error.message);
  return await diagnoseSilence(settings, signal);
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

async function diagnoseFault(
  fault: ConnectionFault,
  { url, ...settings }: Settings,
  signal: AbortSignal,
): Promise<Finding> {
  const where = formatHostPort(url);
  const { hostname } = new URL(url);
  const cannot = `Cannot reach Xen Orchestra at ${where}`;
  switch (fault) {
    case "dns":
      return toFailure(
        "dns",
        `${cannot}: the name "${hostname}" has no address here`,
        "check url; in a pod with hostNetwork use dnsPolicy: Default, or give an IP address",
      );
    case "refused":
      return toFailure(
        "refused",
        `${cannot}: connection refused`,
        "nothing listens there: check host and port in url, and that xo-server runs",
      );
    case "noRoute":
      return toFailure(
        "noRoute",
        `${cannot}: there is no route to it`,
        "check host in url, and the network between this machine and it",
      );
    case "timeout":
      return toFailure(
        "timeout",
        `${cannot}: no answer to the connection`,
        "check host and port in url; a firewall in between may drop packets",
      );
    case "closed":
      return toFailure(
        "closed",
        `${cannot}: the connection was closed before the answer`,
        "check that the port speaks what url says, http or https, and the log of xo-server or of a proxy",
      );
    case "proxy":
      return toFailure(
        "proxy",
        `${cannot}: the proxy of the environment did not connect`,
        "check HTTP_PROXY and HTTPS_PROXY, or name the host in NO_PROXY",
      );
    case "notTls":
      return toFailure(
        "notTls",
        `${cannot}: it does not speak TLS on this port`,
        "write http:// in url, or give the port that speaks https",
      );
    default:
      return await diagnoseTls(fault, { url, ...settings }, signal);
  }
}

async function diagnoseTls(
  fault: ConnectionFault,
  { url }: Settings,
  signal: AbortSignal,
): Promise<Finding> {
  const certificate = await lookAtCertificate(url, signal);
  const shown = certificate === undefined ? "" : ` (SHA-256 ${certificate.fingerprint256})`;
  const cannot = `Cannot trust the certificate of ${formatHostPort(url)}${shown}`;
  const pin = "after comparing it with the server's own, set certificateFingerprint to it";
  switch (fault) {
    case "tlsName": {
      const names = certificate?.subjectAltName ?? "no name at all";
      return toFailure(
        "tlsName",
        `${cannot}: it is for another name: ${names}`,
        `use a name of the certificate in url, or ${pin}`,
      );
    }
    case "tlsExpired":
    case "tlsNotYetValid": {
      const isEarly = fault === "tlsNotYetValid";
      const words = isEarly ? "it is not valid yet" : "it has expired";
      const now = systemClock.now();
      const dates = certificate ? describeDates(certificate, isEarly, now) : words;
      return toFailure(fault, `${cannot}: ${dates}`, adviseOnDates(fault, SERVER_NAMES));
    }
    case "tlsAuthority":
      return toFailure(
        "tlsAuthority",
        `${cannot}: its authority is not known`,
        `give the file of its authority in caFile; if it is self-signed: ${pin}`,
      );
    default:
      return toFailure("tls", cannot, `set caFile, or ${pin}`);
  }
}

/** Only a look at the certificate tells whether a pin is what stands in the way. */
async function diagnosePin(
  { url, certificateFingerprint: pin }: Settings,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const certificate = pin === undefined ? undefined : await lookAtCertificate(url, signal);
  if (certificate === undefined || normalise(certificate.fingerprint256) === pin) return undefined;
  return toFailure(
    "tlsFingerprint",
    `The certificate of ${formatHostPort(url)} is not the one in certificateFingerprint: ` +
      `its SHA-256 is ${certificate.fingerprint256}`,
    "if it was replaced on purpose, change the setting; if not, somebody may stand in between",
  );
}

async function diagnoseSilence(settings: Settings, signal: AbortSignal): Promise<Finding> {
  const { url } = settings;
  if (!(await canConnect(url, signal))) return await diagnoseFault("timeout", settings, signal);
  return toFailure(
    "noAnswer",
    `Xen Orchestra at ${formatHostPort(url)} takes the connection but does not answer in time`,
    "xo-server may be starting: try again; check that the port speaks what url says, http or https",
  );
}

async function lookAtCertificate(
  url: string,
  signal: AbortSignal,
): Promise<X509Certificate | undefined> {
  try {
    return await readServerCertificate(url, withDeadline(signal, LOOK_MS));
  } catch {
    // It was only to say more than is known already.
    signal.throwIfAborted();
    return undefined;
  }
}

/** Whether a TCP connection can be opened. Nothing is sent. */
function canConnect(url: string, signal: AbortSignal): Promise<boolean> {
  const deadline = withDeadline(signal, LOOK_MS);
  return new Promise((resolve) => {
    const socket = connect(toHostPort(url));
    const end = (isOpen: boolean): void => {
      deadline.removeEventListener("abort", abort);
      socket.destroy();
      resolve(isOpen);
    };
    const abort = (): void => end(false);
    deadline.addEventListener("abort", abort, { once: true });
    socket.once("connect", () => end(true));
    socket.once("error", abort);
  });
}

function toFailure(code: string, message: string, advice: string): Finding {
  return { level: "failure", code, message, advice };
}
