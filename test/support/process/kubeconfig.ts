/**
 * Kubeconfigs with one cluster, one user and one context.
 * @module
 */

/**
 * The text of one.
 *
 * @param server URL of the API server
 * @param options.user How it signs in, by the keys of a kubeconfig. @default {no credentials}
 * @param options.caPath File of the authority that signed its certificate. @default {those that the machine trusts}
 */
export function toKubeconfig(
  server: string,
  { user = {}, caPath }: { readonly user?: object; readonly caPath?: string } = {},
): string {
  const authority = caPath === undefined ? {} : { "certificate-authority": caPath };
  // JSON is YAML.
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, ...authority } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}
