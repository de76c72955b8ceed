/**
 * `landfall completion`: prints a script that makes a shell complete commands, flags and their values.
 * @module
 */
import { CONTROLLERS } from "../../controllers/mod.ts";
import { ConfigError } from "../../core/errors.ts";
import { mustBeText } from "../../core/text/values.ts";
import type { CommandContext } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { listShownFlags } from "../command_help.ts";
import { parseOwnFlags } from "../flags/own.ts";
import { printHelp } from "../help.ts";
import { formatBash } from "./bash.ts";
import { formatFish } from "./fish.ts";
import { type Completed, type Shell, SHELLS } from "./shells.ts";
import { formatZsh } from "./zsh.ts";

const FORMATS: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

/**
 * Prints the script for a shell.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when the flags or the name of the shell are wrong
 */
export async function completion(
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { args, isHelpWanted } = parseOwnFlags(argv, { argsMax: 1 });
  if (isHelpWanted) return await printHelp(context, "completion");
  const [name] = args;
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) {
    const what = `the name of a shell (${SHELLS.join(", ")})`;
    throw new ConfigError([{ message: `the argument ${mustBeText(what, name ?? "")}` }]);
  }
  context.print(FORMATS[shell](listCompleted(context)));
  return 0;
}

/** The commands with their completions, and `help`, whose argument is the name of a command. */
function listCompleted({ controllers = CONTROLLERS }: CommandContext): Completed[] {
  const names = COMMANDS.map(({ name }) => name);
  const commands = COMMANDS.map((spec): Completed => {
    const { name, summary, args = [] } = spec;
    return { name, summary, args, flags: listShownFlags(spec, controllers) };
  });
  return [...commands, { name: "help", summary: "Print help", args: names, flags: [] }];
}
