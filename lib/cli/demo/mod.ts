/**
 * `landfall demo`: the real controllers with a simulated Kubernetes and a simulated cloud, on loopback.
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../core/clock.ts";
import { followParent, watchSignals } from "../../host/signals.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../simulator/kubernetes/mod.ts";
import type { CommandContext } from "../command.ts";
import { printHelp } from "../help.ts";
import { startCloud } from "./clouds/mod.ts";
import { countWrites, formatFigures } from "./figures.ts";
import {
  type DemoFiles,
  toCheckFlags,
  toDemoFiles,
  toEnding,
  writeEnv,
  writeKubeconfig,
} from "./files.ts";
import { type DemoFlags, parseDemoFlags } from "./flags.ts";
import { toIntroduction } from "./introduction.ts";
import { Kubelets } from "./kubelets.ts";
import { startLandfall } from "./landfall.ts";
import { printChanges } from "./printer.ts";
import type { Stage } from "./story/stage.ts";
import { playStory, type Setting, toStory } from "./story/mod.ts";
import { DELETION } from "./waits.ts";

/** The clean-up takes less time, in milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Runs the demo.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 * @throws {ConfigError} when the flags cannot be used
 */
export async function demo(argv: readonly string[], context: CommandContext): Promise<number> {
  const flags = parseDemoFlags(argv);
  if (flags === undefined) return await printHelp(context, "demo");
  // A terminal that closes must leave no files, nor must Ctrl-C, which comes from the terminal and again from npm.
  using stop = watchSignals(PATIENCE_MS);
  // npm passes on some signals only.
  const signal = context.env["npm_lifecycle_event"]
    ? followParent(context.clock ?? systemClock, stop.signal)
    : stop.signal;
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-"));
  try {
    const shared = { flags, folder, context };
    if (flags.story === "sipcluster") {
      const { demoSipClusters } = await import("./sipcluster/mod.ts");
      return await demoSipClusters(shared, signal);
    }
    if (flags.story === "vino") {
      const { demoVinos } = await import("./vino/mod.ts");
      return await demoVinos(shared, signal);
    }
    return await play(flags, folder, signal, context);
  } catch (error) {
    if (signal.aborted) return 0;
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
  const kubernetes = startKubernetesSimulator({ clock });
  const setting = await startCloud(flags.cloud, clock);
  const files = toDemoFiles(folder, context.env, flags.kubeconfig);
  try {
    await writeKubeconfig(files.kubeconfig, kubernetes.url);
    return await perform({ flags, context, clock, files, kubernetes, setting }, signal);
  } finally {
    await Promise.all([kubernetes.stop(), setting.cloud.stop()]);
  }
}

interface Scene {
  readonly kubernetes: KubernetesSimulator;
  readonly setting: Setting;
  readonly clock: Clock;
  readonly flags: DemoFlags;
  readonly context: CommandContext;
  readonly files: DemoFiles;
}

async function perform(scene: Scene, signal: AbortSignal): Promise<number> {
  const { flags, context, clock, files, kubernetes, setting } = scene;
  const { cloud } = setting;
  const { complain } = context;
  const tell = (line: string): void => context.print(`${line}\n`);
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const hasOutOfService = setting.steps.volumes.length > 0;
  const hasServices = setting.steps.services.length > 0;
  const { controller, watching, view, listening, controllers } = await startLandfall(
    { kubeconfig: files.kubeconfig, cloud, flags, clock, complain },
    running,
  );
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  const stage: Stage = { kubernetes, cloud, view, kubelets, deletion: DELETION, clock, tell };
  const beating = kubelets.run(running);
  const quiet = printChanges(stage);
  try {
    // Before it prints anything: the port may be taken.
    const debugAddress = await Promise.race([listening, failing(controller)]);
    const checkFlags = toCheckFlags(controllers);
    await writeEnv(files, { clients: cloud.clients, debugAddress, checkFlags }, process);
    const shown = { cloud, files, debugAddress };
    tell(toIntroduction({ ...shown, kubernetes: kubernetes.url, hasOutOfService, hasServices }));
    const startMs = clock.monotonic();
    const steps = toStory(setting);
    const isTrue = await Promise.race([playStory(stage, steps, running), failing(controller)]);
    tell(isTrue ? "\nEvery step succeeded." : "\nA step failed.");
    tell(`\n${toFigures(stage, clock.monotonic() - startMs)}`);
    tell(
      toEnding({
        isOnce: flags.once,
        files,
        debugAddress,
        page: "/debug/",
        commands: [
          "landfall nodes",
          "kubectl get nodes -L topology.kubernetes.io/zone",
          ...cloud.clients.commands,
          "landfall services",
          "kubectl get events -A",
          "kubectl get nodes -w",
        ],
      }),
    );
    if (!flags.once) await controller;
    return isTrue ? 0 : 1;
  } finally {
    quiet();
    ended.abort(new Error("the demo is over"));
    await Promise.allSettled([controller, watching, beating]);
  }
}

/** The story cannot continue without the controllers. */
async function failing(controller: Promise<void>): Promise<never> {
  await controller;
  throw new Error("the controller stopped before the story ended");
}

function toFigures({ cloud, kubernetes }: Stage, durationMs: number): string {
  return formatFigures({
    cloud,
    cloudRequests: cloud.countRequests(),
    passes: cloud.countPasses(),
    writes: countWrites(kubernetes.requests),
    nodes: cloud.machines.size + 1,
    durationMs,
  });
}
