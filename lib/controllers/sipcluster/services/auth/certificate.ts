/**
 * Judges the certificate of an OIDC provider. Pure.
 * @module
 */
import { isIP } from "node:net";
import { CONDITION_WORDS } from "../../resource/words.ts";
import type { ServicePlan } from "../types.ts";
import type { WholeAuth } from "./entry.ts";
import type { AuthFacts } from "./secrets.ts";

/** Landfall says so long before that a certificate ends; of a shorter one, in the last quarter of its life. */
const NOTICE_MS = 7 * 86_400_000;
const NOTICE_SHARE = 1 / 4;

/** Why no client can trust the provider; `undefined` if clients that trust its CA can. */
export function findCertificateProblem(
  { tlsSecret, issuerURL }: WholeAuth,
  { secrets, nowMs }: AuthFacts,
): string | undefined {
  const { certificate, isPair } = secrets.get(tlsSecret) ?? {};
  const what = `Secret ${tlsSecret}: the certificate in tls.crt`;
  if (certificate === undefined) return `${what} cannot be read`;
  if (isPair !== true) return `Secret ${tlsSecret}: tls.key is not the key of the certificate`;
  const { validFromDate: from, validToDate: to } = certificate;
  if (nowMs < from.getTime()) return `${what} is valid from ${formatDate(from)} on`;
  if (nowMs > to.getTime()) return `${what} ended on ${formatDate(to)}. Renew it`;
  const host = new URL(issuerURL).hostname.replace(/^\[(.*)\]$/, "$1");
  const isFor =
    isIP(host) === 0
      ? certificate.checkHost(host, { subject: "never" })
      : certificate.checkIP(host);
  if (isFor !== undefined) return undefined;
  return `${what} is not for ${host}, the host of issuerURL: it has no such subjectAltName`;
}

/** What to know of a certificate that ends soon. */
export function findCertificateNotice(
  { tlsSecret }: WholeAuth,
  { secrets, nowMs }: AuthFacts,
): ServicePlan["notice"] {
  const { certificate } = secrets.get(tlsSecret) ?? {};
  if (certificate === undefined) return undefined;
  const { validFromDate: from, validToDate: to } = certificate;
  const lifeMs = to.getTime() - from.getTime();
  if (to.getTime() - nowMs >= Math.min(NOTICE_MS, lifeMs * NOTICE_SHARE)) return undefined;
  const { reason } = CONDITION_WORDS.ServicesReady.certificateEnds;
  const message = `Secret ${tlsSecret}: the certificate in tls.crt ends on ${formatDate(to)}. Renew it`;
  return { reason, message };
}

/** `2027-01-31T12:00:00Z` */
function formatDate(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
