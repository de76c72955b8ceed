/**
 * The step of `landfall check` that reaches the API server.
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type ConnectionFault,
  findConnectionFault,
  NOT_YET_VALID_ADVICE,
} from "../../core/http/connection.ts";
import { systemClock } from "../../core/clock.ts";
import { ConfigError } from "../../core/errors.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { actAs, type Credentials, type Impersonation } from "../../kube/credentials/credentials.ts";
import { listKubeconfigs, loadCredentials } from "../../kube/credentials/mod.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { createKubeClient } from "../../kube/api/http_client.ts";
import {
  findVersionText,
  isAtLeast,
  parseServerVersion,
  SUPPORTED_FROM,
} from "../../kube/api/version.ts";
import { type CheckFinding, type KubernetesStep, toStatus } from "./report.ts";
import type { CommandContext } from "../command.ts";
import type { Settings } from "../flags/mod.ts";
import { hintAtProxy } from "../proxy_hint.ts";
import { VERSION } from "../version.ts";

/** The step, and clients to go on with. */
export interface CheckedKubernetes {
  readonly step: KubernetesStep;
  /** Must be closed. Absent when further requests would fail, too. */
  readonly client?: KubeClient;
  /** Acts as the user whose permissions are checked; must be closed. Absent with `client`. */
  readonly reviewer?: KubeClient;
}

/** Where the API server is, and as whom it is asked. */
interface KubernetesSource extends Pick<Settings, "kubeconfig" | "master"> {
  /** Of `reviewer`. @default {the user of the credentials} */
  readonly impersonation?: Impersonation | undefined;
}

/** Longest time for one answer, in milliseconds. */
const ANSWER_MS = 10_000;
/** Longest run of a credential plugin: shorter than the whole wait, so that the error names the plugin. */
const PLUGIN_MS = 8_000;

/** In the folder that a demo makes and deletes. */
const DEMO_KUBECONFIG = /[/\\]landfall-demo-[^/\\]+[/\\]kubeconfig$/;

const ADVICE: Readonly<Record<ConnectionFault, string>> = {
  dns: "check the server's address in the kubeconfig (and proxy-url, if there is one), or --master",
  refused:
    "nothing listens there: check the server's address in the kubeconfig (and proxy-url, if there is one), or --master",
  timeout: "check the server's address; a firewall in between may drop packets",
  noRoute: "check the server's address, and the network between this machine and it",
  closed: "check that the address is that of the API server, and whether it speaks http or https",
  tlsAuthority: "check certificate-authority in the kubeconfig: it must be the cluster's own",
  tlsName: "use a name of the certificate in the server's address, or set tls-server-name",
  tlsExpired: "renew the certificate of the API server, and check the clocks of both machines",
  tlsNotYetValid: NOT_YET_VALID_ADVICE,
  tls: "check certificate-authority and the client certificate in the kubeconfig",
  notTls:
    "the address says https, but the server speaks no TLS there, or has no cipher with ECDHE and AEAD",
  proxy: "check proxy-url in the kubeconfig, or HTTPS_PROXY in the environment",
};

/**
 * Loads the credentials for one short look: a slow plugin or server is soon reported. A person looks, so
 * `~/.kube/config` counts, as with kubectl.
 *
 * @throws {ConfigError}
 */
export function loadCheckedCredentials(
  { kubeconfig, master }: KubernetesSource,
  env: CommandContext["env"],
): Promise<Credentials> {
  const where = { ...(kubeconfig ? { kubeconfig } : {}), ...(master ? { master } : {}) };
  const { HOME = "" } = env;
  const own = HOME === "" ? {} : { fallback: join(HOME, ".kube", "config") };
  return loadCredentials({ ...where, ...own, env, clock: systemClock, pluginMs: PLUGIN_MS });
}

/** A client for one short look. */
export function createCheckClient(credentials: Credentials): KubeClient {
  return createKubeClient({
    credentials,
    clock: systemClock,
    metrics: new MetricsRegistry(),
    version: VERSION,
    deadlineMs: ANSWER_MS,
  });
}

/**
 * Finds the credentials, and asks for the server's version.
 *
 * @throws the signal's reason
 */
export async function checkKubernetes(
  source: KubernetesSource,
  env: CommandContext["env"],
  signal: AbortSignal,
): Promise<CheckedKubernetes> {
  try {
    const credentials = await loadCheckedCredentials(source, env);
    const server = new URL(credentials.server).origin;
    const other = toOther(credentials, source);
    const { step, client } = await askVersion(createCheckClient(credentials), server, signal);
    const { host } = new URL(server);
    const findings = step.findings.map((finding) => hintAtProxy(finding, host, env));
    const clients = client && { client, reviewer: other ? createCheckClient(other) : client };
    return { ...clients, step: { ...step, findings } };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = adviseOnMissing(source, env);
    const findings = error.issues.map((issue): CheckFinding => ({
      level: "failure",
      code: "credentials",
      ...issue,
      ...(advice !== undefined && { advice }),
    }));
    return { step: { status: "failure", findings } };
  }
}

/** Says what to do if no kubeconfig exists of those that are named. */
function adviseOnMissing(
  { kubeconfig }: KubernetesSource,
  env: CommandContext["env"],
): string | undefined {
  const files = listKubeconfigs({ env, ...(kubeconfig && { kubeconfig }) });
  if (files.length === 0 || files.some((file) => existsSync(file))) return undefined;
  const other = "set --kubeconfig or KUBECONFIG to the kubeconfig of the cluster";
  if (!files.some((file) => DEMO_KUBECONFIG.test(file))) return other;
  return `the demo of this terminal has ended: start it again, open a new terminal, or ${other}`;
}

/** Credentials that act as the user whose permissions are checked. @throws {ConfigError} */
function toOther(
  credentials: Credentials,
  { impersonation }: KubernetesSource,
): Credentials | undefined {
  if (impersonation === undefined) return undefined;
  const flags = { user: "--as", groups: "--as-group", uid: "--as-uid", extra: "--as" };
  return actAs(credentials, impersonation, (field) => ({ source: flags[field] }));
}

async function askVersion(
  client: KubeClient,
  server: string,
  signal: AbortSignal,
): Promise<Pick<CheckedKubernetes, "step" | "client">> {
  try {
    const version = findVersionText(await client.get("/version", signal));
    const findings = version === undefined ? [toStranger(server)] : listAnswer(server, version);
    const step = { status: toStatus(findings), server, findings };
    if (version !== undefined) return { step: { ...step, version }, client };
    client.close();
    return { step };
  } catch (error) {
    client.close();
    signal.throwIfAborted();
    if (!(error instanceof KubeError)) throw error;
    return { step: { status: "failure", server, findings: [toFailure(error)] } };
  }
}

/** A version that cannot be compared causes no warning. */
function listAnswer(server: string, version: string): CheckFinding[] {
  const message = `${server} answers: Kubernetes ${version}`;
  const answer = { level: "ok", code: "answers", message } as const;
  const parsed = parseServerVersion(version);
  return parsed && !isAtLeast(parsed, SUPPORTED_FROM) ? [answer, toOld(version)] : [answer];
}

/** Not a failure: most of Landfall works with older ones, too, but nothing is promised. */
function toOld(version: string): CheckFinding {
  const message = `Landfall supports Kubernetes ${SUPPORTED_FROM} or newer, found ${version}`;
  const advice = "upgrade the control plane; until then the Helm chart refuses to install";
  return { level: "warning", code: "kubernetesUnsupported", message, advice };
}

function toStranger(server: string): CheckFinding {
  const message = `${server} answers, but not as a Kubernetes API server: it reports no version`;
  const advice = "check the server's address in the kubeconfig, or --master";
  return { level: "failure", code: "wrongService", message, advice };
}

function toFailure(error: KubeError): CheckFinding {
  const { kind, message, code: status } = error;
  const fault = findConnectionFault(error) ?? (status === undefined ? "timeout" : undefined);
  if (kind === "unauthorized" && status === undefined) {
    const advice =
      "fix what the message names; try a command by hand, as the user that Landfall runs as";
    return { level: "failure", code: "credentials", message, advice };
  }
  if (kind === "unauthorized") {
    const advice = "the token or client certificate is wrong or expired: renew the kubeconfig";
    return { level: "failure", code: "unauthorized", message, advice };
  }
  if (fault !== undefined) return { level: "failure", code: fault, message, advice: ADVICE[fault] };
  if (kind === "forbidden") {
    const advice = "the user may not even read /version: check whose credentials these are";
    return { level: "failure", code: "forbidden", message, advice };
  }
  const isStranger = status !== undefined && status < 500;
  const advice = isStranger
    ? "this is no API server: check the server's address in the kubeconfig, or --master"
    : "the API server reports an error: look at its log, and try again";
  return { level: "failure", code: isStranger ? "wrongService" : "serverError", message, advice };
}
