/**
 * `landfall demo sipcluster`: the real controller of SIPClusters with a simulated Kubernetes and simulated metal3.
 * @module
 */
import { join } from "node:path";
import { runApp } from "../../../app/app.ts";
import { sipClusterController } from "../../../controllers/sipcluster/definition.ts";
import { loadControllers } from "../../../controllers/load.ts";
import { type Clock, systemClock } from "../../../core/clock.ts";
import { createLogger } from "../../../core/log.ts";
import { MetricsRegistry } from "../../../core/metrics.ts";
import { formatListenAddress, type ListenAddress } from "../../../http/sockets/listen_address.ts";
import { createKubeClient } from "../../../kube/api/http_client.ts";
import { loadCredentials } from "../../../kube/credentials/mod.ts";
import { startKubernetesSimulator } from "../../../simulator/kubernetes/mod.ts";
import type { CommandContext } from "../../command.ts";
import { VERSION } from "../../version.ts";
import { toEnvCommand, writeEnv, writeKubeconfig } from "../files.ts";
import type { DemoFlags } from "../flags.ts";
import { LEGEND } from "./drawing.ts";
import { playSipStory } from "./story.ts";
import { SipWorld } from "./world.ts";

/** What the demo needs. */
export interface SipDemoOptions {
  readonly flags: Omit<DemoFlags, "cloud">;
  /** For its files; it is removed afterwards. */
  readonly folder: string;
  readonly context: CommandContext;
}

/**
 * Plays the story. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function demoSipClusters(
  { flags, folder, context }: SipDemoOptions,
  signal: AbortSignal,
): Promise<number> {
  const { clock = systemClock } = context;
  const kubernetes = startKubernetesSimulator({ clock });
  const world = new SipWorld(kubernetes, clock);
  const kubeconfig = flags.kubeconfig ?? join(folder, "kubeconfig");
  const files = { kubeconfig, env: join(folder, "env"), cloudConfig: join(folder, "cloud-config") };
  const tell = (line: string): void => context.print(`${line}\n`);
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  try {
    await writeKubeconfig(kubeconfig, kubernetes.url);
    const landfall = await startLandfall({ kubeconfig, clock, flags, context }, running);
    const working = world.run(running);
    try {
      // Before it prints anything: the port may be taken.
      const debugAddress = await Promise.race([landfall.listening, failing(landfall.ends)]);
      await writeEnv(files, { clients: { env: {} }, debugAddress }, process);
      tell(toIntroduction(kubernetes.url, toEnvCommand(files), debugAddress));
      const isTrue = await Promise.race([
        playSipStory({ world, clock, tell }, running),
        failing(landfall.ends),
      ]);
      tell(isTrue ? "\nEvery step succeeded." : "\nA step failed.");
      if (!flags.once) {
        tell("\nThe cluster keeps running. Press Ctrl-C to stop.");
        await landfall.ends;
      }
      return isTrue ? 0 : 1;
    } finally {
      ended.abort(new Error("the demo is over"));
      await Promise.allSettled([landfall.ends, working]);
    }
  } finally {
    await kubernetes.stop();
  }
}

async function startLandfall(
  {
    kubeconfig,
    clock,
    flags,
    context,
  }: Pick<SipDemoOptions, "flags" | "context"> & {
    readonly kubeconfig: string;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): Promise<{ readonly ends: Promise<void>; readonly listening: Promise<ListenAddress> }> {
  const metrics = new MetricsRegistry();
  const log = createLogger({
    format: "text",
    level: flags.verbose ? "info" : "error",
    write: context.complain,
    now: () => clock.now(),
  });
  const credentials = await loadCredentials({ kubeconfig, env: {}, clock, log });
  const listening = Promise.withResolvers<ListenAddress>();
  const options = {
    client: createKubeClient({ credentials, clock, metrics, version: VERSION }),
    clock,
    log,
    metrics,
    host: "demo",
    controllers: await loadControllers([sipClusterController]),
    concurrentNodeSyncs: 1,
    flags: {},
    debugAddress: flags.debugAddress,
    onDebugListening: listening.resolve,
  };
  return { ends: runApp(options, signal), listening: listening.promise };
}

/** The story cannot continue without the controller. */
async function failing(controller: Promise<void>): Promise<never> {
  await controller;
  throw new Error("the controller stopped before the story ended");
}

function toIntroduction(kubernetes: string, env: string, address: ListenAddress): string {
  const page =
    address.kind === "unix"
      ? ""
      : `\n  in a browser: http://${formatListenAddress(address)}/debug/sipclusters`;
  return `\
A simulated Kubernetes API listens at ${kubernetes}: 18 BareMetalHosts in 3 racks, and doubles of metal3's
operator, of its provider for Cluster API, and of what starts Pods. Landfall itself is real.

Watch it in another terminal. The first line makes that terminal use the demo:

  ${env}
  kubectl get -n tenants sipclusters -w${page}

Racks are drawn after each step:

  ${LEGEND}`;
}
