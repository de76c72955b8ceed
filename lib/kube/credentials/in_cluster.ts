/**
 * The service account of a pod.
 * @module
 */
import type { LoadedCredential } from "./credentials.ts";
import { type ReadFile, readNamedFile } from "./problem.ts";
import { checkCertificates } from "./tls.ts";
import { checkToken } from "./token.ts";

/** Where the kubelet mounts a pod's service account. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Address of the API server from a pod's environment, or `undefined` outside a pod. */
export function findInClusterServer(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Reads token and authority of the pod's service account. Kubernetes rotates both while the pod runs.
 *
 * @throws {ConfigError} if one is missing or damaged
 */
export async function readServiceAccount(readFile: ReadFile): Promise<LoadedCredential> {
  const tokenFile = `${SERVICE_ACCOUNT_FOLDER}/token`;
  const caFile = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`;
  const text = await readNamedFile(readFile, tokenFile, { source: tokenFile });
  const token = checkToken(text.trim(), { source: tokenFile });
  const pem = await readNamedFile(readFile, caFile, { source: caFile });
  const ca = checkCertificates({ pem, place: { source: caFile } });
  return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
}
