/**
 * Diagnoses connection problems: says why Landfall cannot reach a server, and what an operator can do.
 * @module
 */
import type { X509Certificate } from "node:crypto";
import type { Finding } from "../cloud/inspection.ts";
import { systemClock, withDeadline } from "../core/clock.ts";
import {
  type ConnectionFault,
  describeDates,
  findConnectionFault,
  formatHostPort,
  readServerCertificate,
  TLS_CIPHERS,
  toHostPort,
  tryConnect,
} from "../core/http/connection.ts";
import { adviseOnDates, normalise, type Server, type ServerNames } from "./client.ts";

/** The server to diagnose; the signal is the deadline. */
interface Asked {
  readonly server: Pick<Server, "url" | "certificateFingerprint">;
  readonly names: ServerNames;
  readonly signal: AbortSignal;
}

/** Maximum time for a second look at a server that failed, in milliseconds. */
const LOOK_MS = 5_000;

/**
 * Finds the problem of a connection: from the error, or, if the error does not say, from the server's certificate.
 *
 * @returns `undefined` if the connection is not the problem, or the problem cannot be found
 * @throws the signal's reason
 */
export async function diagnoseConnection(
  error: unknown,
  asked: Asked,
): Promise<Finding | undefined> {
  const fault = findConnectionFault(error);
  if (fault !== undefined && fault !== "timeout" && fault !== "tls" && fault !== "closed") {
    return await diagnoseFault(fault, asked);
  }
  if (asked.server.url.startsWith("https:")) {
    const pinned = await diagnosePin(asked);
    if (pinned !== undefined) return pinned;
  }
  return fault === "tls" || fault === "closed" ? await diagnoseFault(fault, asked) : undefined;
}

/**
 * Finds out whether http was used for a port that uses TLS: some servers then close the connection, others answer 400.
 *
 * @returns `undefined` if it does not use TLS, or the address is https
 * @throws the signal's reason
 */
export async function diagnoseTlsPort({
  server,
  names,
  signal,
}: Asked): Promise<Finding | undefined> {
  if (!server.url.startsWith("http:")) return undefined;
  // The port stays, even if it is 80.
  const url = `https://${formatHostPort(server.url)}`;
  const certificate = await lookAtCertificate({ server: { url }, names, signal });
  if (certificate === undefined) return undefined;
  return toFailure(
    "tlsPort",
    `Cannot reach ${names.server} at ${formatHostPort(server.url)}: this port uses TLS`,
    `use https:// in ${names.url}, or use the port for http`,
  );
}

/** Finds out why there was no answer in time, by opening a connection. */
export async function diagnoseSilence(asked: Asked): Promise<Finding> {
  const { names, server, signal } = asked;
  const { url } = server;
  if (!(await canConnect(url, signal))) return await diagnoseFault("timeout", asked);
  return toFailure(
    "noAnswer",
    `${names.server} at ${formatHostPort(url)} accepts the connection but does not answer in time`,
    `${names.process} may be starting: try again; ` +
      `check that the port uses the protocol in ${names.url}, http or https`,
  );
}

async function diagnoseFault(fault: ConnectionFault, asked: Asked): Promise<Finding> {
  const { url } = asked.server;
  const { names } = asked;
  const where = formatHostPort(url);
  const { hostname } = new URL(url);
  const cannot = `Cannot reach ${names.server} at ${where}`;
  switch (fault) {
    case "dns":
      return toFailure(
        "dns",
        `${cannot}: the name "${hostname}" has no address on this machine`,
        `check ${names.url}; in a Pod with hostNetwork use dnsPolicy: Default, or use an IP address`,
      );
    case "refused":
      return toFailure(
        "refused",
        `${cannot}: connection refused`,
        `nothing listens there: check host and port in ${names.url}, and check that ${names.process} runs`,
      );
    case "noRoute":
      return toFailure(
        "noRoute",
        `${cannot}: there is no route to it`,
        `check host in ${names.url}, and the network between this machine and it`,
      );
    case "timeout":
      return toFailure(
        "timeout",
        `${cannot}: no answer to the connection attempt`,
        `check host and port in ${names.url}; a firewall in between may drop packets`,
      );
    case "closed":
      return (
        (await diagnoseTlsPort(asked)) ??
        toFailure(
          "closed",
          `${cannot}: the server closed the connection before it answered`,
          `check that the port uses the protocol in ${names.url}, http or https, ` +
            `and read the log of ${names.process} or of a proxy`,
        )
      );
    case "proxy":
      return toFailure(
        "proxy",
        `${cannot}: the proxy from the environment did not connect`,
        "check HTTP_PROXY and HTTPS_PROXY, or add the host to NO_PROXY",
      );
    case "notTls":
      if ((await lookAtCertificate(asked)) !== undefined) {
        return toFailure(
          "tlsCiphers",
          `${cannot}: it offers neither TLS 1.3 nor a TLS 1.2 cipher with ECDHE and AEAD`,
          `allow one of them on the server, for example ${TLS_CIPHERS.split(":")[1]}`,
        );
      }
      return toFailure(
        "notTls",
        `${cannot}: this port does not use TLS`,
        `use http:// in ${names.url}, or use the port for https`,
      );
    default:
      return await diagnoseTls(fault, asked);
  }
}

async function diagnoseTls(fault: ConnectionFault, asked: Asked): Promise<Finding> {
  const { names, server } = asked;
  const certificate = await lookAtCertificate(asked);
  const shown = certificate === undefined ? "" : ` (SHA-256 ${certificate.fingerprint256})`;
  const cannot = `Cannot trust the certificate of ${formatHostPort(server.url)}${shown}`;
  const pin =
    "compare the SHA-256 with that of the server's own certificate, " +
    `then set ${names.certificateFingerprint} to it`;
  switch (fault) {
    case "tlsName": {
      const advice = `use a name of the certificate in ${names.url}, or ${pin}`;
      if (!certificate) return toFailure("tlsName", `${cannot}: it is for other names`, advice);
      const { subjectAltName: held } = certificate;
      if (!held) return toFailure("tlsName", `${cannot}: it has no host name in it`, pin);
      return toFailure("tlsName", `${cannot}: it is for other names: ${held}`, advice);
    }
    case "tlsExpired":
    case "tlsNotYetValid": {
      const isEarly = fault === "tlsNotYetValid";
      const words = isEarly ? "it is not valid yet" : "it has expired";
      const now = systemClock.now();
      const dates = certificate ? describeDates(certificate, isEarly, now) : words;
      return toFailure(fault, `${cannot}: ${dates}`, adviseOnDates(fault, names));
    }
    case "tlsAuthority":
      return toFailure(
        "tlsAuthority",
        `${cannot}: its certificate authority is unknown`,
        `set ${names.caFile} to the file of its authority; if it is self-signed, ${pin}`,
      );
    default:
      return toFailure("tls", cannot, `set ${names.caFile}, or ${pin}`);
  }
}

/** Reads the certificate to find out whether the pinned fingerprint is the problem. */
async function diagnosePin(asked: Asked): Promise<Finding | undefined> {
  const { names, server } = asked;
  const { url, certificateFingerprint: pin } = server;
  const certificate = pin === undefined ? undefined : await lookAtCertificate(asked);
  if (certificate === undefined || normalise(certificate.fingerprint256) === pin) return undefined;
  return toFailure(
    "tlsFingerprint",
    `The certificate of ${formatHostPort(url)} is not the one in ${names.certificateFingerprint}: ` +
      `its SHA-256 is ${certificate.fingerprint256}`,
    "if you replaced it, change the setting; if not, another server may intercept the connection",
  );
}

async function lookAtCertificate({ server, signal }: Asked): Promise<X509Certificate | undefined> {
  try {
    return await readServerCertificate(server.url, withDeadline(signal, LOOK_MS));
  } catch {
    // The certificate only adds details to the message.
    signal.throwIfAborted();
    return undefined;
  }
}

/** Whether a TCP connection can be opened. Sends nothing. */
function canConnect(url: string, signal: AbortSignal): Promise<boolean> {
  return tryConnect(toHostPort(url), withDeadline(signal, LOOK_MS)).then(
    () => true,
    () => false,
  );
}

/** Creates a finding of the level `failure`. */
export function toFailure(code: string, message: string, advice: string): Finding {
  return { level: "failure", code, message, advice };
}
