/**
 * Words of OIDC providers in a cluster: names of Dex's own, and of what Landfall makes for it.
 * @module
 */

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
