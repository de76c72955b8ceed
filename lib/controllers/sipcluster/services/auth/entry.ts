/**
 * Entries of `spec.services.auth`: those of old manifests lack what an OIDC provider needs.
 * @module
 */
import type { Auth } from "../../resource/sip_cluster.ts";

/** An entry with all that it takes to run Dex. */
export interface WholeAuth extends Auth {
  readonly issuerURL: string;
  readonly configSecret: string;
  readonly tlsSecret: string;
}

/** Takes an entry for a whole one, or says what it lacks. */
export function toWhole(entry: Auth): WholeAuth | { readonly missing: string } {
  const { issuerURL = "", configSecret = "", tlsSecret = "" } = entry;
  const missing = Object.entries({ issuerURL, configSecret, tlsSecret })
    .filter(([, value]) => value === "")
    .map(([field]) => field);
  if (missing.length === 0) return { ...entry, issuerURL, configSecret, tlsSecret };
  const old =
    entry.caSecret === undefined
      ? ""
      : ". The original operator made a ClusterIssuer of cert-manager from caSecret, and no OIDC provider";
  return { missing: `an OIDC provider needs ${missing.join(", ")}${old}` };
}
