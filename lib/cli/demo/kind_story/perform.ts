/**
 * Performs a demo of one kind of objects: real controllers, a world of its own, and a story.
 * @module
 */
import { runApp } from "../../../app/app.ts";
import type { Provider } from "../../../cloud/provider.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import {
  type ControllerDefinition,
  type FlagValues,
  loadControllers,
} from "../../../controllers/definition.ts";
import type { Clock } from "../../../core/clock.ts";
import { Fence } from "../../../core/fence.ts";
import { createLogger } from "../../../core/log.ts";
import { MetricsRegistry } from "../../../core/metrics.ts";
import type { ListenAddress } from "../../../core/net/listen_address.ts";
import { createKubeClient } from "../../../kube/api/http_client.ts";
import { loadCredentials } from "../../../kube/credentials/mod.ts";
import type { CommandContext } from "../../command.ts";
import { VERSION } from "../../version.ts";
import type { CloudClients } from "../cloud.ts";
import {
  toCheckFlags,
  toEnding,
  toDemoFiles,
  toEnvLines,
  toPageLine,
  writeEnv,
  writeKubeconfig,
} from "../files.ts";
import type { DemoFlags } from "../flags.ts";

/** What a demo needs. */
export interface KindDemoOptions {
  readonly flags: Omit<DemoFlags, "cloud">;
  /** For its files; it is removed afterwards. */
  readonly folder: string;
  readonly context: CommandContext;
}

/** What is performed. */
export interface KindStory {
  /** URL of the simulated API server. */
  readonly kubernetes: string;
  readonly clock: Clock;
  readonly controllers: readonly ControllerDefinition[];
  /** Of the controllers. @default {none} */
  readonly flags?: FlagValues;
  /** The page that shows the objects: `/debug/sipclusters`. */
  readonly page: string;
  /** What programs in another terminal need to use the cloud. */
  readonly clients: Pick<CloudClients, "env">;
  /** What is left when the story is over, as a sentence. */
  readonly left: string;
  /** Commands to try then. @param folder Where the story may have written files */
  listCommands(folder: string): readonly string[];
  /** Writes files for the commands. @default {there are none} */
  writeFiles?(folder: string): Promise<void>;
  /** Sections of the settings file. @default {none} */
  readonly sections?: ReadonlyMap<string, unknown>;
  /** Absent: there is no cloud. */
  createProvider?(deps: ProviderDeps): Provider;
  /**
   * The text before the story.
   *
   * @param shown.env Lines that make a terminal use the demo
   * @param shown.page Line with the address of the page; empty if a browser cannot open it
   */
  introduce(shown: { readonly env: string; readonly page: string }): string;
  /** Lets everything beside Landfall work until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Plays the story. Resolves with whether every step succeeded. */
  play(tell: (line: string) => void, signal: AbortSignal): Promise<boolean>;
}

/**
 * Plays the story. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function performKindStory(
  options: KindDemoOptions,
  story: KindStory,
  signal: AbortSignal,
): Promise<number> {
  const { flags, folder, context } = options;
  const files = toDemoFiles(folder, context.env, flags.kubeconfig);
  const { kubeconfig } = files;
  const tell = (line: string): void => context.print(`${line}\n`);
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  await writeKubeconfig(kubeconfig, story.kubernetes);
  const landfall = await startLandfall({ ...options, kubeconfig }, story, running);
  const working = story.run(running);
  try {
    // Before it prints anything: the port may be taken.
    const debugAddress = await Promise.race([landfall.listening, failing(landfall.ends)]);
    const checkFlags = toCheckFlags(story.controllers, story.flags);
    await writeEnv(files, { clients: story.clients, debugAddress, checkFlags }, process);
    await story.writeFiles?.(folder);
    tell(story.introduce({ env: toEnvLines(files), page: toPageLine(debugAddress, story.page) }));
    const isTrue = await Promise.race([story.play(tell, running), failing(landfall.ends)]);
    tell(isTrue ? "\nEvery step succeeded." : "\nA step failed.");
    const { left, page } = story;
    const commands = story.listCommands(folder);
    tell(toEnding({ isOnce: flags.once, left, files, debugAddress, page, commands }));
    if (!flags.once) await landfall.ends;
    return isTrue ? 0 : 1;
  } finally {
    ended.abort(new Error("the demo is over"));
    await Promise.allSettled([landfall.ends, working]);
  }
}

async function startLandfall(
  {
    flags: { debugAddress, verbose },
    context,
    kubeconfig,
  }: KindDemoOptions & { readonly kubeconfig: string },
  { clock, controllers, flags = {}, sections, createProvider }: KindStory,
  signal: AbortSignal,
): Promise<{ readonly ends: Promise<void>; readonly listening: Promise<ListenAddress> }> {
  const metrics = new MetricsRegistry();
  const log = createLogger({
    format: "text",
    level: verbose ? "info" : "error",
    write: context.complain,
    now: () => clock.now(),
  });
  const credentials = await loadCredentials({ kubeconfig, env: {}, clock, log });
  const listening = Promise.withResolvers<ListenAddress>();
  const fence = new Fence();
  const provider = createProvider?.({ clock, log, metrics, signal, fence });
  const options = {
    client: createKubeClient({ credentials, clock, metrics, version: VERSION }),
    ...(provider && { provider, fence }),
    clock,
    log,
    metrics,
    host: "demo",
    controllers: await loadControllers(controllers),
    concurrentNodeSyncs: 1,
    flags,
    ...(sections && { sections }),
    debugAddress,
    onDebugListening: listening.resolve,
  };
  return { ends: runApp(options, signal), listening: listening.promise };
}

/** The story cannot continue without the controllers. */
async function failing(controllers: Promise<void>): Promise<never> {
  await controllers;
  throw new Error("the controller stopped before the story ended");
}
