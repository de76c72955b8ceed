/**
 * The flags with which the API servers of a tenant trust an OIDC provider.
 * @module
 */
import { CA_FILE } from "./words.ts";

/** What the flags are made from. */
interface OidcInput {
  readonly issuerURL: string;
  readonly clientID: string;
  /** The certificates of the CA, as PEM. Absent: one that machines trust anyway signed the provider's. */
  readonly ca?: string | undefined;
}

/**
 * The `data` of the ConfigMap for a tenant. Names have the prefix `oidc:`, so that no one from outside is an account or
 * group of Kubernetes, such as `system:masters`.
 */
export function toOidcData({ issuerURL, clientID, ca }: OidcInput): Record<string, string> {
  const flags = [
    `--oidc-issuer-url=${issuerURL}`,
    `--oidc-client-id=${clientID}`,
    "--oidc-username-claim=email",
    "--oidc-username-prefix=oidc:",
    "--oidc-groups-claim=groups",
    "--oidc-groups-prefix=oidc:",
    ...(ca === undefined ? [] : [`--oidc-ca-file=${CA_FILE}`]),
  ];
  return {
    ...(ca !== undefined && { "ca.crt": ca }),
    "client-id": clientID,
    "issuer-url": issuerURL,
    "kube-apiserver-flags": flags.map((flag) => `${flag}\n`).join(""),
  };
}
