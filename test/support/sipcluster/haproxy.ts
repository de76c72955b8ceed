/**
 * The real HAProxy, run as the Pods of a load balancer run it.
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SipServices } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  type LoadBalancerOptions,
  planLoadBalancers,
} from "../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import type { Machine } from "../../../lib/controllers/sipcluster/services/types.ts";
import { type ServerProcess, startProcess, waitUntilReady } from "../process/server_process.ts";
import { saySkipped } from "../skip.ts";

/**
 * Whether Debian's package `haproxy` is missing. Says so loudly.
 *
 * @throws Error instead when `CI` is set
 */
export function skipsHaproxy(): boolean {
  if (Bun.which("haproxy") !== null) return false;
  const text = "tests with HAProxy: install Debian's package haproxy";
  saySkipped(text);
  return true;
}

/** The configurations in the ConfigMaps of the load balancers of these services. */
export function planConfigs(
  services: SipServices,
  machines: readonly Machine[],
  options?: LoadBalancerOptions,
): readonly string[] {
  const cluster = { metadata: { name: "acme", namespace: "infra" }, spec: { services } };
  const plans = planLoadBalancers({ cluster, machines, tolerations: [] }, options);
  return Array.from(plans, ({ objects, problem }) => {
    if (problem) throw new Error(problem.message);
    const found = Object.entries(objects[0]?.body ?? {}).find(([key]) => key === "data");
    return found?.[1]["haproxy.cfg"] ?? "";
  });
}

/** What a program said. */
export interface Answer {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end. */
export function runProgram(command: string, args: readonly string[]): Answer {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: 10_000,
  });
  return { code: status, output: stdout + stderr };
}

/** One Pod of a load balancer: HAProxy on an address of loopback. */
interface Pod extends AsyncDisposable {
  readonly ip: string;
  readonly process: ServerProcess;
  /** Whether the frontend for probes answers. */
  isReady(): Promise<boolean>;
  hasLogged(text: string): Promise<boolean>;
}

const HEALTH_PORT = 8404;
const READY_MS_MAX = 10_000;
/** As in the Pod: another user, and no capability. Only root can change to it. */
const UNPRIVILEGED = [
  "setpriv",
  "--reuid=99",
  "--regid=99",
  "--clear-groups",
  "--no-new-privs",
  "--inh-caps=-all",
  "--bounding-set=-all",
  "--pdeathsig=KILL",
] as const;
/** As in the Pod: no file system can be written. */
const READ_ONLY = [
  "unshare",
  "--mount",
  "--propagation=private",
  "sh",
  "-c",
  'mount -o remount,bind,ro / && exec "$@"',
  "sh",
] as const;

/** Starts a Pod with this configuration, and waits until it is ready. */
export async function startPod(ip: string, config: string, signal: AbortSignal): Promise<Pod> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-haproxy-"));
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, config);
  runProgram("chmod", ["a+rx", folder]);
  const prefix = process.getuid?.() === 0 ? [...READ_ONLY, ...UNPRIVILEGED] : [];
  const command = [...prefix, "env", `POD_IP=${ip}`, "haproxy", "-db", "-f", path];
  const [program = "", ...args] = command;
  const server = startProcess(program, args, join(folder, "log"));
  const host = ip.includes(":") ? `[${ip}]` : ip;
  const pod: Pod = {
    ip,
    process: server,
    isReady: async () => {
      const url = `http://${host}:${HEALTH_PORT}/healthz`;
      const headers = { connection: "close" };
      const answer = await fetch(url, { headers, signal: AbortSignal.timeout(1000) });
      return answer.status === 200;
    },
    hasLogged: async (text) => (await readFile(server.logPath, "utf8")).includes(text),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const options = { name: `HAProxy on ${ip}`, timeoutMs: READY_MS_MAX, signal };
  await waitUntilReady(server, { ...options, isReady: pod.isReady });
  return pod;
}

/** The same configuration with health checks that are twenty times as frequent, so that tests end soon. */
export function hurry(config: string): string {
  return config.replaceAll(/(?<=inter )(\d+)s\b/g, (_, seconds) => `${Number(seconds) * 50}ms`);
}
