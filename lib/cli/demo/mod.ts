/**
 * `landfall demo`: the real controllers with a simulated Kubernetes and simulated clouds, on loopback.
 * @module
 */
import { rm } from "node:fs/promises";
import { systemClock } from "../../core/clock.ts";
import { followParent, watchSignals } from "../../host/signals.ts";
import type { CommandContext } from "../command.ts";
import { printHelp } from "../help.ts";
import { makeFolder, toFarewell } from "./files.ts";
import { type DemoFlags, parseDemoFlags } from "./flags.ts";
import type { DemoOptions } from "./perform.ts";

/** The clean-up takes less time, in milliseconds. */
const PATIENCE_MS = 2_000;

type Demo = (options: DemoOptions, signal: AbortSignal) => Promise<number>;

/** Only the chosen one is loaded. */
const DEMOS: Readonly<Record<DemoFlags["story"], () => Promise<Demo>>> = {
  cloud: async () => (await import("./story/mod.ts")).demoCloud,
  sipcluster: async () => (await import("./sipcluster/mod.ts")).demoSipClusters,
  vino: async () => (await import("./vino/mod.ts")).demoVinos,
};

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
  const isOfNpm = Boolean(context.env["npm_lifecycle_event"]);
  const signal = isOfNpm ? followParent(context.clock ?? systemClock, stop.signal) : stop.signal;
  const folder = await makeFolder();
  let code = 0;
  try {
    const play = await DEMOS[flags.story]();
    code = await play({ flags, folder, context }, signal);
  } catch (error) {
    if (!signal.aborted) throw isOfNpm ? withNpmWords(error, toChoice(flags, argv)) : error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  context.print(toFarewell(flags.kubeconfig));
  return code;
}

/** The words that chose the demo. */
function toChoice({ story }: DemoFlags, argv: readonly string[]): readonly string[] {
  return story === "cloud" ? argv.filter((word) => word.startsWith("--cloud=")) : [story];
}

/** npm keeps flags for itself unless they follow two dashes. */
function withNpmWords(error: unknown, choice: readonly string[]): unknown {
  if (!(error instanceof Error && error.message.startsWith("--debug-address: "))) return error;
  const command = ["npm run demo --", ...choice, "--debug-address=127.0.0.1:0"].join(" ");
  return new Error(`${error.message}: ${command}`, { cause: error });
}
