/**
 * The step of `landfall check` that reaches the API server.
 * @module
 */
import { type ConnectionFault, findConnectionFault } from "../../core/net/connection_fault.ts";
import { systemClock } from "../../core/clock.ts";
import { ConfigError } from "../../core/errors.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import { NOT_YET_VALID_ADVICE } from "../../core/net/server_certificate.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { loadCredentials } from "../../kube/credentials/mod.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { createKubeClient } from "../../kube/api/http_client.ts";
import { type CheckFinding, type KubernetesStep, toStatus } from "./report.ts";
import type { CommandContext } from "../command.ts";
import type { Settings } from "../flags/mod.ts";
import { hintAtProxy } from "../proxy_hint.ts";
import { VERSION } from "../version.ts";

/** What became of the API server. */
export interface CheckedKubernetes {
  readonly step: KubernetesStep;
  /** To be closed. Absent when there is no use in asking further. */
  readonly client?: KubeClient;
}

/** Longest time for one answer, in milliseconds; a person is waiting. */
const ANSWER_MS = 10_000;
/** Longest run of a plugin that gives credentials: less than what is waited for in all, so that it is named. */
const PLUGIN_MS = 8_000;

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
  notTls: "the address says https, but what answers there does not speak TLS",
  proxy: "check proxy-url in the kubeconfig, or HTTPS_PROXY in the environment",
};

/**
 * Finds the credentials, and asks for the server's version.
 *
 * @throws the signal's reason
 */
export async function checkKubernetes(
  { kubeconfig, master }: Pick<Settings, "kubeconfig" | "master">,
  env: CommandContext["env"],
  signal: AbortSignal,
): Promise<CheckedKubernetes> {
  const clock = systemClock;
  const where = { ...(kubeconfig ? { kubeconfig } : {}), ...(master ? { master } : {}) };
  try {
    const credentials = await loadCredentials({ ...where, env, clock, pluginMs: PLUGIN_MS });
    const server = new URL(credentials.server).origin;
    const client = createKubeClient({
      credentials,
      clock,
      metrics: new MetricsRegistry(),
      version: VERSION,
      deadlineMs: ANSWER_MS,
    });
    const { step, ...rest } = await askVersion(client, server, signal);
    const { host } = new URL(server);
    const findings = step.findings.map((finding) => hintAtProxy(finding, host, env));
    return { ...rest, step: { ...step, findings } };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.issues.map((issue): CheckFinding => ({
      level: "failure",
      code: "credentials",
      ...issue,
    }));
    return { step: { status: "failure", findings } };
  }
}

async function askVersion(
  client: KubeClient,
  server: string,
  signal: AbortSignal,
): Promise<CheckedKubernetes> {
  try {
    const version = findVersion(await client.get("/version", signal));
    const findings = [version === undefined ? toStranger(server) : toAnswer(server, version)];
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

function findVersion(body: unknown): string | undefined {
  const isObject = typeof body === "object" && body !== null && "gitVersion" in body;
  return isObject && typeof body.gitVersion === "string" ? body.gitVersion : undefined;
}

function toAnswer(server: string, version: string): CheckFinding {
  return { level: "ok", code: "answers", message: `${server} answers: Kubernetes ${version}` };
}

function toStranger(server: string): CheckFinding {
  const message = `what answers at ${server} tells no version of Kubernetes`;
  const advice = "check the server's address in the kubeconfig, or --master";
  return { level: "failure", code: "wrongService", message, advice };
}

function toFailure(error: KubeError): CheckFinding {
  const { kind, message, code: status } = error;
  const fault = findConnectionFault(error) ?? (status === undefined ? "timeout" : undefined);
  if (kind === "unauthorized" && status === undefined) {
    const advice = "mend what is named; run a command by hand, as the user that Landfall runs as";
    return { level: "failure", code: "credentials", message, advice };
  }
  if (kind === "unauthorized") {
    const advice = "the token or client certificate is wrong or expired: renew the kubeconfig";
    return { level: "failure", code: "unauthorized", message, advice };
  }
  if (fault !== undefined) return { level: "failure", code: fault, message, advice: ADVICE[fault] };
  if (kind === "forbidden") {
    const advice = "the user may not even read /version: check who the credentials stand for";
    return { level: "failure", code: "forbidden", message, advice };
  }
  const isStranger = status !== undefined && status < 500;
  const advice = isStranger
    ? "what answers is no API server: check the server's address in the kubeconfig, or --master"
    : "the API server is in trouble: look at its log, and try again";
  return { level: "failure", code: isStranger ? "wrongService" : "serverError", message, advice };
}
