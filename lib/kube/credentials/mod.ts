/**
 * Finds the credentials for the API server: a kubeconfig, or the service account of the pod.
 * @module
 */
import { delimiter } from "node:path";
import type { Clock } from "../../core/clock.ts";
import { type Logger, silentLogger } from "../../core/log.ts";
import { readSmallText } from "../../core/small_file.ts";
import { createCredentials, type Credentials, type LoadedCredential } from "./credentials.ts";
import { checkExecCommand, ExecPlugin } from "./exec.ts";
import { checkServer, type ResolvedContext, resolveContext } from "./kubeconfig.ts";
import { readKubeconfig } from "./kubeconfig_file.ts";
import { type ReadFile, readNamedFile, toConfigError } from "./problem.ts";
import { checkCertificates, checkToken } from "./tls.ts";

/** Where the kubelet mounts a pod's service account. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Shorter than the deadline of a list, so that the error names a plugin that hangs. */
const PLUGIN_MS = 45_000;

/** Where to find credentials. */
export interface CredentialsSource {
  /** Path of a kubeconfig (`--kubeconfig`). With it, no other source is used. */
  readonly kubeconfig?: string;
  /** Address of the API server (`--master`), instead of that in the credentials. */
  readonly master?: string;
  /** Reads `KUBECONFIG`, `KUBERNETES_SERVICE_HOST` and `…_PORT`. Exec plugins inherit all variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Reads a text file. @default reading from disk */
  readonly readFile?: ReadFile;
  /** Longest run of an exec plugin in milliseconds. @default {45_000} */
  readonly pluginMs?: number;
  /** @default no log */
  readonly log?: Logger;
}

/**
 * Finds credentials and checks everything that needs no network. The order is: `--kubeconfig`, the files in
 * `KUBECONFIG`, the service account of the pod, and `--master` alone (without credentials). `~/.kube/config` is not
 * used: a controller must not act on the cluster that a person used last.
 *
 * Exec plugins run at the first request, not here; this only checks that their command exists.
 *
 * @throws {ConfigError} with file and field, in one sentence
 */
export async function loadCredentials(source: CredentialsSource): Promise<Credentials> {
  const { kubeconfig, master, env, clock, log = silentLogger } = source;
  const readFile = source.readFile ?? readSmallText;
  const files = kubeconfig ? [kubeconfig] : (env["KUBECONFIG"] ?? "").split(delimiter);
  const named = files.filter((file) => file !== "");
  if (named.length > 0) return loadKubeconfig(named, readFile, source);

  const inCluster = findInClusterServer(env);
  const place = { source: master ? "--master" : "KUBERNETES_SERVICE_HOST and …_PORT" };
  const given = master || inCluster;
  const checked = given && checkServer(given, place);
  const server = master ? checked : inCluster;
  if (!server) {
    throw toConfigError(
      { source: "Kubernetes credentials" },
      "none found: set --kubeconfig or KUBECONFIG, or run in a pod with a service account",
    );
  }
  const load = (): Promise<LoadedCredential> =>
    inCluster === undefined
      ? Promise.resolve({ headers: {}, tls: {} })
      : readServiceAccount(readFile);
  await load();
  return createCredentials({ server, load, clock, log });
}

async function loadKubeconfig(
  files: readonly string[],
  readFile: ReadFile,
  { master, env, clock, pluginMs = PLUGIN_MS, log = silentLogger }: CredentialsSource,
): Promise<Credentials> {
  // Reads the whole kubeconfig each time, because some tools renew certificates in it.
  const resolve = async (): Promise<ResolvedContext> =>
    resolveContext(await readKubeconfig(files, readFile), readFile, master || undefined);
  const { server, exec } = await resolve();
  if (exec !== undefined) await checkExecCommand(exec, env);
  const plugin = new ExecPlugin({ env, clock, timeoutMs: pluginMs });
  const load = async (fresh: boolean): Promise<LoadedCredential> => {
    const now = await resolve();
    if (now.server !== server) {
      throw toConfigError(
        { source: files.join(", ") },
        "the address of the server changed; restart Landfall to use it",
      );
    }
    if (now.exec === undefined) return now.credential;
    const answer = await plugin.read(now.exec, fresh);
    const { headers, tls } = now.credential;
    return {
      ...now.credential,
      ...answer,
      headers: { ...headers, ...answer.headers },
      tls: { ...tls, ...answer.tls },
    };
  };
  return createCredentials({ server, load, clock, log });
}

/** Address of the API server from a pod's environment, or `undefined` outside a pod. */
function findInClusterServer(
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
async function readServiceAccount(readFile: ReadFile): Promise<LoadedCredential> {
  const tokenFile = `${SERVICE_ACCOUNT_FOLDER}/token`;
  const caFile = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`;
  const text = await readNamedFile(readFile, tokenFile, { source: tokenFile });
  const token = checkToken(text.trim(), { source: tokenFile });
  const pem = await readNamedFile(readFile, caFile, { source: caFile });
  const ca = checkCertificates({ pem, place: { source: caFile } });
  return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
}
