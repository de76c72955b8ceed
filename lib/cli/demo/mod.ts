/**
 * `landfall demo`: the real controllers with a simulated Kubernetes and a simulated Xen Orchestra, on loopback.
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runApp } from "../../app/app.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "../../cloud/deletion/guard.ts";
import {
  DEFAULT_OUT_OF_SERVICE,
  type OutOfServiceSettings,
} from "../../cloud/deletion/off_streaks.ts";
import { OUT_OF_SERVICE } from "../../cloud/deletion/out_of_service_settings.ts";
import { DELETION as SECTION } from "../../cloud/deletion/settings.ts";
import type { Provider } from "../../cloud/provider.ts";
import { loadControllers } from "../../controllers/load.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { ConfigError } from "../../core/errors.ts";
import { Fence } from "../../core/fence.ts";
import type { ProviderDeps } from "../../cloud/provider_definition.ts";
import { createLogger, type Logger } from "../../core/log.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import { watchSignals } from "../../host/signals.ts";
import { formatListenAddress, type ListenAddress } from "../../http/sockets/listen_address.ts";
import { loadCredentials } from "../../kube/credentials/mod.ts";
import { createKubeClient } from "../../kube/api/http_client.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { EVENTS } from "../../kube/kinds/event.ts";
import { NODES, type Node } from "../../kube/kinds/node.ts";
import { Store } from "../../kube/cache/store.ts";
import { runWatcher } from "../../kube/cache/watcher.ts";
import { xenOrchestra } from "../../providers/xenorchestra/mod.ts";
import { startKubernetesSimulator } from "../../simulator/kubernetes/mod.ts";
import { createDemoWorld, startXenOrchestraSimulator } from "../../simulator/xenorchestra/mod.ts";
import { ClusterView } from "./cluster.ts";
import { countCloudRequests, countWrites, formatFigures } from "./figures.ts";
import { type DemoFiles, toEnvCommand, writeEnv, writeKubeconfig } from "./files.ts";
import { type DemoFlags, parseDemoFlags } from "./flags.ts";
import { Kubelets, SILENCE_MS } from "./kubelets.ts";
import { narrate } from "./narrator.ts";
import { countPasses, type Stage } from "./stage.ts";
import { playStory } from "./story.ts";
import type { CommandContext } from "../command.ts";
import { printHelp } from "../help.ts";
import { VERSION } from "../version.ts";

/** Shorter than usual, to keep the demo short; its introduction shows both values. */
const REFRESH_INTERVAL = "1s";
const NODE_MONITOR_PERIOD_MS = 1_000;
const DELETION: DeletionSettings = { ...DEFAULT_DELETION, holdOffMs: 3_000 };
const OUT_OF_SERVICE_SETTINGS: OutOfServiceSettings = { ...DEFAULT_OUT_OF_SERVICE, graceMs: 2_000 };

/**
 * Runs the demo.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 * @throws {ConfigError} when the flags cannot be used
 */
export async function demo(argv: readonly string[], context: CommandContext): Promise<number> {
  const flags = parseDemoFlags(argv);
  if (flags === undefined) return await printHelp(context, "demo");
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

async function play(
  flags: DemoFlags,
  folder: string,
  signal: AbortSignal,
  context: CommandContext,
): Promise<number> {
  const { clock = systemClock } = context;
  const world = createDemoWorld();
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  const kubeconfig = flags.kubeconfig ?? join(folder, "kubeconfig");
  const files = { kubeconfig, env: join(folder, "env") };
  try {
    await writeKubeconfig(kubeconfig, kubernetes.url);
    return await perform({ flags, context, clock, files, kubernetes, cloud, world }, signal);
  } finally {
    await Promise.all([kubernetes.stop(), cloud.stop()]);
  }
}

interface Scene extends Pick<Stage, "kubernetes" | "cloud" | "world" | "clock"> {
  readonly flags: DemoFlags;
  readonly context: CommandContext;
  readonly files: DemoFiles;
}

async function perform(scene: Scene, signal: AbortSignal): Promise<number> {
  const { flags, context, clock, files, kubernetes, cloud, world } = scene;
  const tell = (line: string): void => context.print(`${line}\n`);
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const { controller, watching, view, listening } = await startLandfall(scene, running);
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  const stage: Stage = {
    kubernetes,
    cloud,
    world,
    view,
    kubelets,
    deletion: DELETION,
    clock,
    tell,
  };
  const beating = kubelets.run(running);
  const quiet = narrate(stage);
  try {
    // Before it prints anything: the port may be taken.
    const debugAddress = await Promise.race([listening, failing(controller)]);
    await writeEnv(files, { cloud, debugAddress }, process);
    tell(toIntroduction(scene, debugAddress));
    const startMs = clock.monotonic();
    const isTrue = await Promise.race([playStory(stage, running), failing(controller)]);
    tell(isTrue ? "\nEvery step succeeded." : "\nA step failed.");
    tell(`\n${toFigures(stage, clock.monotonic() - startMs)}`);
    if (!flags.once) {
      tell(toInvitation(files, debugAddress));
      await controller;
    }
    return isTrue ? 0 : 1;
  } finally {
    quiet();
    ended.abort(new Error("the demo is over"));
    await Promise.allSettled([controller, watching, beating]);
  }
}

/** The real controllers, and a view of the cluster that they work on. */
interface RunningLandfall {
  readonly controller: Promise<void>;
  readonly view: ClusterView;
  readonly watching: Promise<unknown>;
  /** Where its debug pages are, with the real port. Never settles if it cannot listen: `controller` then fails. */
  readonly listening: Promise<ListenAddress>;
}

async function startLandfall(
  { files: { kubeconfig }, cloud, flags, context, clock }: Scene,
  signal: AbortSignal,
): Promise<RunningLandfall> {
  const metrics = new MetricsRegistry();
  const log = createLogger({
    format: "text",
    level: flags.verbose ? "info" : "error",
    write: context.complain,
    now: () => clock.now(),
  });
  const credentials = await loadCredentials({ kubeconfig, env: {}, clock, log });
  const client = createKubeClient({ credentials, clock, metrics, version: VERSION });
  const fence = new Fence();
  const provider = createProvider(cloud, { clock, log, metrics, signal, fence });
  const listening = Promise.withResolvers<ListenAddress>();
  const controller = runApp(
    {
      provider,
      fence,
      client,
      clock,
      log,
      metrics,
      host: "demo",
      controllers: await loadControllers(CONTROLLERS),
      concurrentNodeSyncs: 16,
      flags: {
        "node-monitor-period": NODE_MONITOR_PERIOD_MS,
        "node-out-of-service-sync-period": NODE_MONITOR_PERIOD_MS,
      },
      sections: new Map<string, unknown>([
        [SECTION.key, DELETION],
        [OUT_OF_SERVICE.key, OUT_OF_SERVICE_SETTINGS],
      ]),
      debugAddress: flags.debugAddress,
      onDebugListening: listening.resolve,
    },
    signal,
  );
  return {
    controller,
    ...watchCluster({ client, clock, log }, signal),
    listening: listening.promise,
  };
}

/** The story cannot continue without the controllers. */
async function failing(controller: Promise<void>): Promise<never> {
  await controller;
  throw new Error("the controller stopped before the story ended");
}

function createProvider(cloud: Stage["cloud"], deps: ProviderDeps): Provider {
  const raw = { url: cloud.url, token: cloud.token, refreshInterval: REFRESH_INTERVAL };
  const { settings, issues } = xenOrchestra.parseConfig(raw, {});
  if (settings === undefined) throw new ConfigError(issues);
  return xenOrchestra.create(settings, deps);
}

function watchCluster(
  shared: { readonly client: KubeClient; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): { view: ClusterView; watching: Promise<unknown> } {
  const { log } = shared;
  const nodes = new Store<Node>({ resource: NODES, log });
  const events = new Store({ resource: EVENTS, log });
  const watching = Promise.all([
    runWatcher({ ...shared, resource: NODES, store: nodes }, signal),
    runWatcher({ ...shared, resource: EVENTS, store: events }, signal),
  ]);
  return { view: new ClusterView(nodes, events), watching };
}

function toIntroduction({ kubernetes, cloud, files }: Scene, debugAddress: ListenAddress): string {
  const holdOff = formatDuration(DELETION.holdOffMs);
  const grace = formatDuration(OUT_OF_SERVICE_SETTINGS.graceMs);
  const period = formatDuration(NODE_MONITOR_PERIOD_MS);
  const silence = formatDuration(SILENCE_MS);
  return `\
A simulated Kubernetes API listens at ${kubernetes.url}
A simulated Xen Orchestra listens at ${cloud.url}: two pools, five hosts and
  twelve VMs. Eight of them run the Nodes of the cluster: the page counts only those

Landfall itself is real. To keep the demo short, some waits are shorter than usual:

  refreshInterval            ${REFRESH_INTERVAL}   usually 30s
  deletion.holdOff           ${holdOff}   usually 60s
  outOfService.graceDuration ${grace}   usually 30s
  --node-monitor-period      ${period}   usually 5s
  kubelet silent: NotReady   ${silence}   usually 50s

Watch it in another terminal. The first line makes that terminal use the demo:

  ${toEnvCommand(files)}
  kubectl get nodes -w -L topology.kubernetes.io/zone
  landfall check${toPageLine(debugAddress)}`;
}

/** The URL of the page for a browser; empty for a unix socket. */
function toPageLine(address: ListenAddress): string {
  if (address.kind === "unix") return "";
  return `\n  in a browser: http://${formatListenAddress(address)}/debug/`;
}

function toFigures(stage: Stage, durationMs: number): string {
  const { cloud, kubernetes, world } = stage;
  return formatFigures({
    cloudRequests: countCloudRequests(cloud.requests),
    passes: countPasses(stage),
    writes: countWrites(kubernetes.requests),
    nodes: world.machines.size + 1,
    durationMs,
  });
}

function toInvitation(files: DemoFiles, address: ListenAddress): string {
  return `
The cluster keeps running. Try this in another terminal:
${toPageLine(address)}
  ${toEnvCommand(files)}
  landfall nodes
  landfall check
  kubectl get nodes -L topology.kubernetes.io/zone
  kubectl describe node worker-uefi
  kubectl describe node worker-3
  kubectl get events -A
  kubectl get nodes -w

Press Ctrl-C to stop.`;
}
