/**
 * The command line: picks the command, and turns what can go wrong into a sentence and an exit code.
 * @module
 */
import { ConfigError, describeError, formatConfigIssue } from "../core/errors.ts";
import { quote, toPlainText } from "../core/text/printable.ts";
import { CERTIFICATE_COMMAND } from "../host/self.ts";
import { tuneRuntime } from "../host/runtime.ts";
import type { CommandContext } from "./command.ts";
import { formatHelp } from "./flags/help.ts";
import { VERSION } from "./version.ts";

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

/**
 * Runs a command.
 *
 * @param argv Arguments after the program's name; the first is the command unless it is a flag
 * @returns Exit code: 0 done, 1 failed, 2 wrong flags or settings
 */
export async function main(argv: readonly string[], context: CommandContext): Promise<number> {
  const [first = "run", ...rest] = argv;
  const isCommand = !first.startsWith("-");
  const flags = isCommand ? rest : argv;
  const complain = (text: string): void => context.complain(`landfall: ${toPlainText(text)}\n`);
  try {
    return await runCommand(isCommand ? first : "run", flags, context);
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const issue of error.issues) complain(formatConfigIssue(issue));
      return EXIT_MISUSED;
    }
    complain(describeError(error));
    return EXIT_FAILED;
  }
}

// Commands are imported when they are asked for: the demo's simulators never weigh on a production process.
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
    case "demo": {
      const { demo } = await import("./demo/mod.ts");
      return await demo(flags, context);
    }
    case CERTIFICATE_COMMAND: {
      // For the program itself.
      const { printCertificate } = await import("./make_certificate.ts");
      return printCertificate(flags, context);
    }
    case "stop-workload": {
      // For the chart's hook.
      const { stopWorkload } = await import("./stop_workload.ts");
      return await stopWorkload(flags, context);
    }
    case "version":
      context.print(`landfall ${VERSION}\n`);
      return EXIT_OK;
    case "help":
      context.print(formatHelp(context.controllers));
      return EXIT_OK;
    default:
      throw new ConfigError([
        {
          message: `there is no command ${quote(command)}: give run, check, demo, version or help`,
        },
      ]);
  }
}
