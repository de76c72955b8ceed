/**
 * `landfall help`: the overview of all commands, or help on one. No line is wider than 80 characters.
 * @module
 */
import { ConfigError } from "../core/errors.ts";
import { suggest } from "../core/text/edit_distance.ts";
import { quote } from "../core/text/printable.ts";
import { wrapAfter } from "../core/text/wrap.ts";
import type { CommandContext } from "./command.ts";
import { COMMANDS, type CommandSpec, findCommand } from "./commands.ts";
import { parseOwnFlags } from "./flags/own.ts";
import { formatExamples, toParagraph } from "./help_text.ts";
import { findWidth, HELP_WIDTH } from "./terminal.ts";

const HELP_OF_HELP = "Print this help, or the help of a command";

/** Prints help on a command, or the overview. @returns Exit code 0 */
export async function printHelp(context: CommandContext, command = ""): Promise<number> {
  const width = Math.min(findWidth(context), HELP_WIDTH);
  const spec = findCommand(command);
  const text = spec === undefined ? formatOverview(width) : await format(spec, context, width);
  const { program = PROGRAM } = context;
  context.print(program === PROGRAM ? text : text.replaceAll(TYPED, `${program} `));
  return 0;
}

/** How people call the program, and where they type it. */
const PROGRAM = "landfall";
const TYPED = /(?<![\w./=-])landfall (?=[a-zA-Z[-])/g;

/**
 * `landfall help [COMMAND]`.
 *
 * @returns Exit code 0
 * @throws {ConfigError} for an unknown command
 */
export async function help(argv: readonly string[], context: CommandContext): Promise<number> {
  const { args } = parseOwnFlags(argv, { argsMax: 1 });
  const [command] = args;
  if (command === undefined || command === "help") return await printHelp(context);
  if (findCommand(command) === undefined) throw toUnknownCommand(command);
  return await printHelp(context, command);
}

/** The flags come from all controllers: what is needed for them is loaded only here. */
async function format(spec: CommandSpec, context: CommandContext, width: number): Promise<string> {
  const { formatCommandHelp } = await import("./command_help.ts");
  const { controllers: registry } = context;
  return formatCommandHelp(spec, { width, ...(registry && { registry }) });
}

/** The error for an unknown command. It suggests the closest one. */
export function toUnknownCommand(command: string): ConfigError {
  const names = [...COMMANDS.map(({ name }) => name), "help"];
  const hint = suggest(command, names) || "; see landfall --help";
  return new ConfigError([{ message: `unknown command ${quote(command)}${hint}` }]);
}

/** The overview of all commands. Ends in a newline. @param width Most characters of a line */
export function formatOverview(width: number = HELP_WIDTH): string {
  const names = COMMANDS.map(({ name, summary }) => [name, summary] as const);
  const rows = [...names, ["help", HELP_OF_HELP] as const];
  const longest = Math.max(...rows.map(([name]) => name.length));
  const commands = rows.map(([name, summary]) =>
    wrapAfter(`  ${name.padEnd(longest)}  `, summary, { width }),
  );
  const examples = [findCommand("demo"), findCommand("check"), findCommand("nodes")].map(
    (one) => one?.examples.slice(0, 1) ?? [],
  );
  return [
    toParagraph("Landfall is a Kubernetes cloud controller manager for private clouds.", width),
    "Usage:\n  landfall [command] [flags]\n",
    `Commands:\n${commands.join("")}`,
    formatExamples(examples.flat(), width),
    toParagraph('"landfall help COMMAND" shows the flags of a command, and examples.', width),
  ].join("\n");
}
