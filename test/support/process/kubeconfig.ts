/**
 * Kubeconfigs with one cluster, one user and one context.
 * @module
 */

interface KubeconfigOptions {
  readonly user?: object;
  readonly caPath?: string;
  readonly serverName?: string;
}

/**
 * The text of one.
 *
 * @param server URL of the API server
 * @param options.user How it signs in, by the keys of a kubeconfig. @default {no credentials}
 * @param options.caPath File of the authority that signed its certificate. @default {those that the machine trusts}
 * @param options.serverName What its certificate names. @default {the host of the URL}
 */
export function toKubeconfig(
  server: string,
  { user = {}, caPath, serverName }: KubeconfigOptions = {},
): string {
  const cluster = { server, "certificate-authority": caPath, "tls-server-name": serverName };
  // JSON is YAML.
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}
