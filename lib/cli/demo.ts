/**
 * `landfall demo`: the real controller on a simulated Kubernetes and a simulated Xen Orchestra, on loopback.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runApp } from "../app/app.ts";
import { DEFAULT_DELETION } from "../cloud/deletion_guard.ts";
import type { Provider } from "../cloud/provider.ts";
import { systemClock } from "../core/clock.ts";
import { ConfigError, describeError } from "../core/errors.ts";
import { createLogger, type Logger } from "../core/log.ts";
import { MetricsRegistry } from "../core/metrics.ts";
import { watchSignals } from "../host/signals.ts";
import {
  formatListenAddress,
  isLoopbackHost,
  type ListenAddress,
  parseListenAddress,
} from "../http/listen_address.ts";
import { loadCredentials } from "../kube/credentials/mod.ts";
import { createKubeClient } from "../kube/http_client.ts";
import type { KubeClient } from "../kube/client.ts";
import { EVENTS, NODES, type Node } from "../kube/resource.ts";
import { Store } from "../kube/store.ts";
import { runWatcher } from "../kube/watcher.ts";
import { xenOrchestra } from "../providers/xenorchestra/mod.ts";
import { startKubernetesSimulator } from "../simulator/kubernetes/mod.ts";
import { createDemoWorld, startXenOrchestraSimulator } from "../simulator/xenorchestra/mod.ts";
import { ClusterView } from "./demo_cluster.ts";
import { narrate, playStory, type Stage } from "./demo_story.ts";
import type { CommandContext } from "./command.ts";
import { VERSION } from "./version.ts";

interface DemoFlags {
  readonly once: boolean;
  readonly verbose: boolean;
  readonly kubeconfig?: string;
  readonly debugAddress: ListenAddress;
}

const HELP = `Usage: landfall demo [flags]

  --once                     play the story and exit: 0 if every step came true, else 1
  --kubeconfig=FILE          write the kubeconfig there (default: a temporary folder)
  --debug-address=HOST:PORT  where the debug pages are (default 127.0.0.1:10260; port 0 takes a free one)
  --verbose                  show the controller's log too
`;
/** Short, so that a late machine is seen soon. */
const REFRESH_INTERVAL = "5s";

/**
 * Runs the demo.
 *
 * @returns Exit code: 0 when the story came true, 1 when a step did not
 * @throws {ConfigError} when the flags cannot be used
 */
export async function demo(argv: readonly string[], context: CommandContext): Promise<number> {
  const flags = parseDemoFlags(argv);
  if (flags === undefined) {
    context.print(HELP);
    return 0;
  }
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-"));
  using stop = watchSignals();
  try {
    return await play(flags, folder, stop.signal, context);
  } catch (error) {
    if (stop.signal.aborted) return 0;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function parseDemoFlags(argv: readonly string[]): DemoFlags | undefined {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        once: { type: "boolean" },
        verbose: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        kubeconfig: { type: "string" },
        "debug-address": { type: "string", default: "127.0.0.1:10260" },
      },
    });
    if (values.help) return undefined;
    return {
      once: values.once ?? false,
      verbose: values.verbose ?? false,
      ...(values.kubeconfig === undefined ? {} : { kubeconfig: resolve(values.kubeconfig) }),
      debugAddress: toLoopback(values["debug-address"]),
    };
  } catch (error) {
    throw new ConfigError([{ source: "demo", message: describeError(error) }]);
  }
}

function toLoopback(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address.kind === "tcp" && !isLoopbackHost(address.host)) {
    throw new RangeError(
      `--debug-address: wanted a loopback address or a unix socket, found "${text}"`,
    );
  }
  return address;
}

/** Never overwrites: the file that a newcomer names may be a real one. */
async function writeKubeconfig(path: string, server: string): Promise<void> {
  try {
    await writeFile(path, toKubeconfig(server), { mode: 0o600, flag: "wx" });
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    const message = exists
      ? `"${path}" exists and is left alone: name a new file`
      : `"${path}" cannot be written: ${describeError(error)}`;
    throw new ConfigError([{ source: "--kubeconfig", message }], { cause: error });
  }
}

async function play(
  flags: DemoFlags,
  folder: string,
  signal: AbortSignal,
  context: CommandContext,
): Promise<number> {
  const clock = systemClock;
  const tell = (line: string): void => context.print(`${line}\n`);
  const world = createDemoWorld();
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  const kubeconfig = flags.kubeconfig ?? join(folder, "kubeconfig");
  try {
    await writeKubeconfig(kubeconfig, kubernetes.url);
  } catch (error) {
    await Promise.all([kubernetes.stop(), cloud.stop()]);
    throw error;
  }
  tell(`A simulated Kubernetes API listens at ${kubernetes.url}`);
  tell(`A simulated Xen Orchestra listens at ${cloud.url}: two pools, five hosts, twelve machines`);

  const metrics = new MetricsRegistry();
  const log = createLogger({
    format: "text",
    level: flags.verbose ? "info" : "error",
    write: context.complain,
    now: () => clock.now(),
  });
  const credentials = await loadCredentials({ kubeconfig, env: {}, clock, log });
  const client = createKubeClient({ credentials, clock, metrics, version: VERSION });
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const provider = createProvider(cloud, { log, metrics, signal: running });
  const { view, watching } = watchCluster(client, log, running);
  let debugAddress = flags.debugAddress;
  const controller = runApp(
    {
      provider,
      client,
      clock,
      log,
      metrics,
      host: "demo",
      controllers: new Set(["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"]),
      concurrentNodeSyncs: 16,
      nodeStatusUpdateFrequencyMs: 300_000,
      nodeMonitorPeriodMs: 1_000,
      deletion: DEFAULT_DELETION,
      debugAddress,
      onDebugListening: (address) => (debugAddress = address),
    },
    running,
  );
  const stage: Stage = { kubernetes, cloud, world, view, clock, tell };
  const quiet = narrate(stage);
  try {
    const isTrue = await Promise.race([playStory(stage, running), failing(controller)]);
    tell(isTrue ? "\nEvery step came true." : "\nNot every step came true.");
    if (!flags.once) {
      tell(toInvitation(kubeconfig, debugAddress));
      await controller;
    }
    return isTrue ? 0 : 1;
  } finally {
    quiet();
    ended.abort(new Error("the demo is over"));
    await Promise.allSettled([controller, watching]);
    await Promise.all([kubernetes.stop(), cloud.stop()]);
  }
}

/** The story cannot go on without its controller. */
async function failing(controller: Promise<void>): Promise<never> {
  await controller;
  throw new Error("the controller stopped before the story ended");
}

function createProvider(
  cloud: Stage["cloud"],
  deps: { log: Logger; metrics: MetricsRegistry; signal: AbortSignal },
): Provider {
  const raw = { url: cloud.url, token: cloud.token, refreshInterval: REFRESH_INTERVAL };
  const { settings, issues } = xenOrchestra.parseConfig(raw, {});
  if (settings === undefined) throw new ConfigError(issues);
  return xenOrchestra.create(settings, { ...deps, clock: systemClock });
}

function watchCluster(
  client: KubeClient,
  log: Logger,
  signal: AbortSignal,
): { view: ClusterView; watching: Promise<unknown> } {
  const nodes = new Store<Node>({ resource: NODES, log });
  const events = new Store({ resource: EVENTS, log });
  const shared = { client, clock: systemClock, log };
  const watching = Promise.all([
    runWatcher({ ...shared, resource: NODES, store: nodes }, signal),
    runWatcher({ ...shared, resource: EVENTS, store: events }, signal),
  ]);
  return { view: new ClusterView(nodes, events), watching };
}

function toKubeconfig(server: string): string {
  return `apiVersion: v1
kind: Config
current-context: demo
clusters: [{ name: demo, cluster: { server: "${server}" } }]
users: [{ name: demo, user: {} }]
contexts: [{ name: demo, context: { cluster: demo, user: demo } }]
`;
}

function toInvitation(kubeconfig: string, address: ListenAddress): string {
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const isSocket = address.kind === "unix";
  const curl = isSocket ? `curl -s --unix-socket ${address.path}` : "curl -s";
  const url = `http://${isSocket ? "localhost" : formatListenAddress(address)}/debug/nodes`;
  return `
The cluster stays up. Try:

  ${kubectl} get nodes -L topology.kubernetes.io/zone
  ${kubectl} describe node worker-uefi
  ${kubectl} get events -A
  ${kubectl} get nodes -w
  ${curl} ${url}
  ${curl} '${url}?format=text'

Ctrl-C ends it.`;
}
