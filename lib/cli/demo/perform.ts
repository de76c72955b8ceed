/**
 * Performs a demo: real controllers, a world of its own, and a story.
 * @module
 */
import { runApp } from "../../app/app.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDeps } from "../../cloud/provider_definition.ts";
import {
  type ControllerDefinition,
  type FlagValues,
  loadControllers,
} from "../../controllers/definition.ts";
import { fitControllers } from "../../controllers/fitting.ts";
import type { Clock } from "../../core/clock.ts";
import { Fence } from "../../core/fence.ts";
import { createLogger, type Logger } from "../../core/log.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { createKubeClient } from "../../kube/api/http_client.ts";
import { loadCredentials } from "../../kube/credentials/mod.ts";
import type { CommandContext } from "../command.ts";
import { VERSION } from "../version.ts";
import type { CloudClients } from "./cloud.ts";
import {
  toCheckFlags,
  toEnding,
  toDemoFiles,
  toEnvLines,
  toPageLine,
  writeEnv,
  writeKubeconfig,
} from "./files.ts";
import type { DemoFlags } from "./flags.ts";

/** What a demo needs. */
export interface DemoOptions {
  readonly flags: DemoFlags;
  /** For its files; it is removed afterwards. */
  readonly folder: string;
  readonly context: CommandContext;
}

/** What is performed. */
export interface Story {
  /** URL of the simulated API server. */
  readonly kubernetes: string;
  readonly clock: Clock;
  /** Without those that cannot work with the cloud. */
  readonly controllers: readonly ControllerDefinition[];
  /** Of the controllers, and of `landfall check`. @default {none} */
  readonly flags?: FlagValues;
  /** Flags of the controllers that shorten waits more than a user may. @default {none} */
  readonly waits?: FlagValues;
  /** Sections of the settings file. @default {none} */
  readonly sections?: ReadonlyMap<string, unknown>;
  /** The page that shows the objects: `/debug/sipclusters`. */
  readonly page: string;
  /** What programs in another terminal need to use the cloud. */
  readonly clients: Pick<CloudClients, "env" | "settings">;
  /** What is left when the story is over, as a sentence. @default {nothing is said} */
  readonly left?: string;
  /** Commands to try then. @param folder Where the story may have written files */
  listCommands(folder: string): readonly string[];
  /** Writes files for the commands. @default {there are none} */
  writeFiles?(folder: string): Promise<void>;
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
  begin(parts: StoryParts, signal: AbortSignal): Performance;
}

/** What a story may use beside its own world. */
export interface StoryParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Prints one line. */
  readonly tell: (line: string) => void;
}

/** A story that can be played. */
export interface Performance {
  /** Settles when everything beside Landfall has stopped. */
  readonly working: Promise<unknown>;
  /** Plays the story. Resolves with whether every step succeeded. */
  play(): Promise<boolean>;
  /** What is said about the whole story. @default {nothing} */
  summarize?(): string;
}

/**
 * Plays the story. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function performStory(
  options: DemoOptions,
  story: Story,
  signal: AbortSignal,
): Promise<number> {
  const { flags, folder, context } = options;
  const files = toDemoFiles(folder, context.env, flags.kubeconfig);
  const tell = (line: string): void => context.print(`${line}\n`);
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  await writeKubeconfig(files.kubeconfig, story.kubernetes);
  const { kubeconfig } = files;
  const landfall = await startLandfall({ ...options, kubeconfig }, story, running);
  const { working, play, summarize } = story.begin({ ...landfall.parts, tell }, running);
  try {
    // Before it prints anything: the port may be taken.
    const debugAddress = await Promise.race([landfall.listening, failing(landfall.ends)]);
    const checkFlags = toCheckFlags(landfall.controllers, story.flags);
    await writeEnv(files, { clients: story.clients, debugAddress, checkFlags }, process);
    await story.writeFiles?.(folder);
    tell(story.introduce({ env: toEnvLines(files), page: toPageLine(debugAddress, story.page) }));
    const isTrue = await Promise.race([play(), failing(landfall.ends)]);
    tell(
      isTrue
        ? "\nEvery step succeeded."
        : "\nA step failed. --verbose shows what the controllers log.",
    );
    if (summarize !== undefined) tell(`\n${summarize()}`);
    if (!flags.once) {
      const { left, page } = story;
      const commands = story.listCommands(folder);
      const ending = { files, debugAddress, page, commands };
      tell(toEnding(left === undefined ? ending : { ...ending, left }));
      await landfall.ends;
    }
    return isTrue ? 0 : 1;
  } finally {
    ended.abort(new Error("the demo is over"));
    await Promise.allSettled([landfall.ends, working]);
  }
}

/** The real controllers, and what else works on their cluster. */
interface RunningLandfall {
  readonly ends: Promise<void>;
  readonly controllers: readonly ControllerDefinition[];
  /** Where its debug pages are, with the real port. Never settles if it cannot listen: `ends` then fails. */
  readonly listening: Promise<ListenAddress>;
  readonly parts: Omit<StoryParts, "tell">;
}

async function startLandfall(
  { flags, context, kubeconfig }: DemoOptions & { readonly kubeconfig: string },
  story: Story,
  signal: AbortSignal,
): Promise<RunningLandfall> {
  const { clock, sections } = story;
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
  const provider = story.createProvider?.({ clock, log, metrics, signal, fence });
  const controllers =
    provider === undefined
      ? story.controllers
      : fitControllers(story.controllers, { provider, named: new Set(), sections }).fitting;
  const listening = Promise.withResolvers<ListenAddress>();
  const app = {
    client,
    ...(provider && { provider, fence }),
    clock,
    log,
    metrics,
    host: "demo",
    controllers: await loadControllers(controllers),
    concurrentNodeSyncs: 16,
    flags: { ...story.flags, ...story.waits },
    ...(sections && { sections }),
    debugAddress: flags.debugAddress,
    onDebugListening: listening.resolve,
  };
  const ends = runApp(app, signal);
  return { ends, controllers, listening: listening.promise, parts: { client, clock, log } };
}

/** The story cannot continue without the controllers. */
async function failing(controllers: Promise<void>): Promise<never> {
  await controllers;
  throw new Error("the controller stopped before the story ended");
}
