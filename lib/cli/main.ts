/**
 * The command line: picks the command, and turns errors into a line and an exit code.
 * @module
 */
import { ConfigError, describeError, formatConfigIssue } from "../core/errors.ts";
import { toPlainText } from "../core/text/printable.ts";
import { tuneRuntime } from "../host/runtime.ts";
import type { CommandContext } from "./command.ts";

/** How people call the program. */
const PROGRAM = "landfall";
const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

/**
 * Runs a command.
 *
 * @param argv Arguments after the program's name; the first is the command unless it is a flag
 * @returns Exit code: 0 done, 1 failed, 2 wrong flags or settings
 */
export async function main(argv: readonly string[], context: CommandContext): Promise<number> {
  // Without a command, controllers must not run for a person who only wants to see what there is.
  const isPlugin = context.program !== undefined && context.program !== PROGRAM;
  const isForHelp = argv.length === 0 && (isPlugin || context.columns?.() !== undefined);
  const [first = isForHelp ? "help" : "run", ...rest] = argv;
  const lone = argv.length === 1 ? findLone(first) : undefined;
  const isCommand = !first.startsWith("-");
  const flags = isCommand || lone !== undefined ? rest : argv;
  const complain = (text: string): void => context.complain(`landfall: ${toPlainText(text)}\n`);
  try {
    if (isForHelp && !isPlugin)
      complain("on a terminal, no command means help. To run the controllers: landfall run");
    return await runCommand(
      lone ?? (isCommand ? first : isPlugin ? "help" : "run"),
      flags,
      context,
    );
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const issue of error.issues) complain(formatConfigIssue(issue));
      return EXIT_MISUSED;
    }
    complain(describeError(error));
    return EXIT_FAILED;
  }
}

/** The command that a flag without anything else stands for: nothing that `run` needs is loaded for it. */
function findLone(flag: string): "help" | "version" | undefined {
  if (/^(-h|--?help)$/.test(flag)) return "help";
  return flag === "--version" ? "version" : undefined;
}

// Commands are imported on demand: the demo's simulators must cost a production process no memory.
async function runCommand(
  command: string,
  flags: readonly string[],
  context: CommandContext,
): Promise<number> {
  switch (command) {
    case "run": {
      tuneRuntime();
      const { run } = await import("./run.ts");
      return await run(flags, context);
    }
    case "check": {
      const { check } = await import("./check/mod.ts");
      return await check(flags, context);
    }
    case "nodes": {
      const { nodes } = await import("./nodes/mod.ts");
      return await nodes(flags, context);
    }
    case "services":
    case "sipclusters":
    case "vinos": {
      if (command === "services" && flags.some((flag) => /^--?kept(=true)?$/.test(flag))) {
        const { showKept } = await import("./services.ts");
        return await showKept(flags, context);
      }
      const { showObjects } = await import("./objects.ts");
      return await showObjects(command, flags, context);
    }
    case "demo": {
      const { demo } = await import("./demo/mod.ts");
      return await demo(flags, context);
    }
    case "stop-workload": {
      // The hook of the chart runs this.
      const { stopWorkload } = await import("./stop_workload.ts");
      return await stopWorkload(flags, context);
    }
    case "version": {
      const { printVersion } = await import("./print_version.ts");
      return await printVersion(flags, context);
    }
    case "completion": {
      const { completion } = await import("./completion/mod.ts");
      return await completion(flags, context);
    }
    case "help": {
      const { help } = await import("./help.ts");
      return await help(flags, context);
    }
    default: {
      const { toUnknownCommand } = await import("./help.ts");
      throw toUnknownCommand(command);
    }
  }
}
