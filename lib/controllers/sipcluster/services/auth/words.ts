/**
 * Words of OIDC providers in a cluster: names of Dex's own, and of what Landfall makes for it.
 * @module
 */
import type { RoleRule } from "../../../definition.ts";

/** The group of the kinds in which Dex keeps its state. Source: https://dexidp.io/docs/configuration/storage/ */
export const DEX_GROUP = "dex.coreos.com";
/** Plural names of these kinds, and their kinds. Newer versions of Dex have the last two. */
export const DEX_KINDS: Readonly<Record<string, string>> = {
  authcodes: "AuthCode",
  authrequests: "AuthRequest",
  connectors: "Connector",
  devicerequests: "DeviceRequest",
  devicetokens: "DeviceToken",
  oauth2clients: "OAuth2Client",
  offlinesessionses: "OfflineSessions",
  passwords: "Password",
  refreshtokens: "RefreshToken",
  signingkeies: "SigningKey",
  authsessions: "AuthSession",
  useridentities: "UserIdentity",
};
/** What Dex does with its objects. */
export const DEX_VERBS: readonly string[] = ["create", "delete", "get", "list", "update"];
/** What the account of Dex may do. */
export const DEX_RULE: RoleRule = {
  apiGroup: DEX_GROUP,
  resources: Object.keys(DEX_KINDS).toSorted(),
  verbs: DEX_VERBS,
};
/** The version of these kinds. */
export const DEX_VERSION = "v1";

/** Used if an entry names no image. */
export const DEFAULT_IMAGE = "ghcr.io/dexidp/dex:v2.45.1";
/** The ID of the tenant among the clients of Dex, if an entry names none. */
export const DEFAULT_CLIENT_ID = "kubernetes";
/** Prefix of the objects' names, and the labels `component` and `name`. */
export const DEX = "dex";

/** Key of the Secret with Dex's configuration. */
export const CONFIG_KEY = "config.yaml";
/** Keys of the Secret with the certificate of Dex, and of one with the key pair of a CA. */
export const TLS_KEYS = ["tls.crt", "tls.key"] as const;
/** Where the container has the configuration, and where the certificate: `web.tlsCert` and `web.tlsKey` name it. */
export const PATHS = { config: "/etc/dex/config", tls: "/etc/dex/tls" } as const;
/** Where the API servers of a tenant have the CA. */
export const CA_FILE = "/etc/kubernetes/pki/oidc-ca.crt";
