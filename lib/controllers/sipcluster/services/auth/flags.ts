/**
 * What makes the API servers of a tenant trust an OIDC provider: flags, or a file, of which newer servers take one.
 * @module
 */
import { CA_FILE } from "./words.ts";

/** What both are made from. */
interface OidcInput {
  readonly issuerURL: string;
  readonly clientID: string;
  /** The certificates of the CA, as PEM. Absent: one that machines trust anyway signed the provider's. */
  readonly ca?: string | undefined;
}

/** Names have it, so that no one from outside is an account or group of Kubernetes, such as `system:masters`. */
const PREFIX = "oidc:";
const CLAIMS = { username: "email", groups: "groups" } as const;

/** The `data` of the ConfigMap for a tenant. Flags and file say the same. */
export function toOidcData(input: OidcInput): Record<string, string> {
  const { issuerURL, clientID, ca } = input;
  const flags = [
    `--oidc-issuer-url=${issuerURL}`,
    `--oidc-client-id=${clientID}`,
    `--oidc-username-claim=${CLAIMS.username}`,
    `--oidc-username-prefix=${PREFIX}`,
    `--oidc-groups-claim=${CLAIMS.groups}`,
    `--oidc-groups-prefix=${PREFIX}`,
    ...(ca === undefined ? [] : [`--oidc-ca-file=${CA_FILE}`]),
  ];
  return {
    ...(ca !== undefined && { "ca.crt": ca }),
    "authentication-configuration": toAuthenticationConfiguration(input),
    "client-id": clientID,
    "issuer-url": issuerURL,
    "kube-apiserver-flags": flags.map((flag) => `${flag}\n`).join(""),
  };
}

/** JSON, which is YAML, too. */
function toAuthenticationConfiguration({ issuerURL, clientID, ca }: OidcInput): string {
  const config = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: {
          url: issuerURL,
          audiences: [clientID],
          ...(ca !== undefined && { certificateAuthority: ca }),
        },
        claimMappings: {
          username: { claim: CLAIMS.username, prefix: PREFIX },
          groups: { claim: CLAIMS.groups, prefix: PREFIX },
        },
      },
    ],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
