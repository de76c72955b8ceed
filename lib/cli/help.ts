/**
 * The text of `help` and `--help`, from the tables of commands and flags. No line is wider than 80 characters.
 * @module
 */
import type { ControllerDefinition } from "../controllers/definition.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { ConfigError } from "../core/errors.ts";
import { findClosest } from "../core/text/edit_distance.ts";
import { quote } from "../core/text/printable.ts";
import { wrapAfter, wrapText } from "../core/text/wrap.ts";
import type { CommandContext } from "./command.ts";
import { COMMANDS, type CommandSpec, findCommand } from "./commands.ts";
import { listControllerNames, OFF_BY_DEFAULT } from "./flags/controllers.ts";
import { parseOwnFlags } from "./flags/mod.ts";
import type { FlagGroup, FlagSpec } from "./flags/spec.ts";
import { HELP_FLAG, listFlags } from "./flags/table.ts";
import { findWidth, HELP_WIDTH } from "./terminal.ts";

/** Flags that need more characters have their help on the next line. */
const FLAG_WIDTH = 24;
const HELP_OF_HELP = "Print this help, or the help of a command";

/** Which help is wanted, for which terminal. */
export interface HelpOptions {
  /** Name of a command. @default {an overview of all commands} */
  readonly command?: string;
  /** The available controllers. @default {CONTROLLERS} */
  readonly registry?: readonly ControllerDefinition[];
  /** Most characters of a line. @default {80} */
  readonly width?: number;
}

/** Prints help on a command, or the overview. @returns Exit code 0 */
export function printHelp(context: CommandContext, command?: string): number {
  const { controllers } = context;
  const options = {
    ...(command !== undefined && { command }),
    ...(controllers && { registry: controllers }),
    width: Math.min(findWidth(context), HELP_WIDTH),
  };
  context.print(formatHelp(options));
  return 0;
}

/**
 * `landfall help [COMMAND]`.
 *
 * @returns Exit code 0
 * @throws {ConfigError} for an unknown command
 */
export function help(argv: readonly string[], context: CommandContext): number {
  const { args } = parseOwnFlags(argv, { argsMax: 1 });
  const [command] = args;
  if (command === undefined || command === "help") return printHelp(context);
  if (findCommand(command) === undefined) throw toUnknownCommand(command);
  return printHelp(context, command);
}

/** The error for a command that does not exist, with the one that was probably meant. */
export function toUnknownCommand(command: string): ConfigError {
  const closest = findClosest(command, [...COMMANDS.map(({ name }) => name), "help"]);
  const hint = closest === undefined ? "see landfall --help" : `did you mean ${closest}?`;
  return new ConfigError([{ message: `unknown command ${quote(command)}; ${hint}` }]);
}

/** Formats help on a command, or the overview if there is no such command. Ends in a newline. */
export function formatHelp(options: HelpOptions = {}): string {
  const { command = "", registry = CONTROLLERS, width = HELP_WIDTH } = options;
  const spec = findCommand(command);
  return spec === undefined ? formatOverview(width) : formatCommand(spec, { registry, width });
}

/** The flags that help and completions show for a command, its own first. */
export function listShownFlags(
  { flags = [], runFlags }: CommandSpec,
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): readonly FlagSpec[] {
  const applied = listFlags(registry).filter(({ effect }) => effect === "applies");
  if (runFlags === "all") return [...flags, ...applied];
  const shown = applied.filter(({ name }) => runFlags?.includes(name));
  return [...flags, ...shown, HELP_FLAG];
}

function formatOverview(width: number): string {
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

interface HelpContext {
  readonly registry: readonly ControllerDefinition[];
  readonly width: number;
}

function formatCommand(spec: CommandSpec, { registry, width }: HelpContext): string {
  const groups = new Map<FlagGroup, FlagSpec[]>();
  for (const flag of listShownFlags(spec, registry)) {
    const { group = "Other" } = flag;
    groups.set(group, [...(groups.get(group) ?? []), flag]);
  }
  const available = listControllerNames(registry).filter(({ isAvailable }) => isAvailable);
  const names = available.map(({ name, isOffByDefault = false }) =>
    isOffByDefault ? `${name} (${OFF_BY_DEFAULT})` : name,
  );
  const more = spec.runFlags === undefined ? [] : listMore(spec, names);
  return [
    `Usage:\n  landfall ${spec.name} ${spec.usage}\n`,
    ...spec.description.map((text) => toParagraph(text, width)),
    formatExamples(spec.examples, width),
    ...[...groups].map(([group, flags]) => `${group}:\n${formatFlagHelp(flags, width)}`),
    ...more.map((text) => toParagraph(text, width)),
  ].join("\n");
}

function listMore({ runFlags }: CommandSpec, controllers: readonly string[]): string[] {
  const all = `Names for --controllers: ${controllers.join(", ")}`;
  return [runFlags === "all" ? all : "All other flags of run are accepted and have no effect."];
}

function formatExamples(examples: CommandSpec["examples"], width: number): string {
  const lines = examples.map(
    ([purpose, line]) =>
      `${wrapAfter("  # ", purpose, { width, indent: "  # " })}${formatLine(line, width)}`,
  );
  return `Examples:\n${lines.join("")}`;
}

/** A line to type, continued with `\` where it is too long: so it can be pasted. */
function formatLine(line: string, width: number): string {
  return `  ${wrapText(line, width - 6).join(" \\\n    ")}\n`;
}

/** One entry for each flag: its form and default, and what it does. Ends in a newline. */
export function formatFlagHelp(flags: readonly FlagSpec[], width: number = HELP_WIDTH): string {
  return flags
    .map((flag) => {
      const shown = `  ${formatFlag(flag)}`;
      if (shown.length <= FLAG_WIDTH) {
        return wrapAfter(`${shown.padEnd(FLAG_WIDTH)}  `, flag.help, { width });
      }
      return `${shown}\n${wrapAfter(" ".repeat(FLAG_WIDTH + 2), flag.help, { width })}`;
    })
    .join("");
}

function formatFlag({ name, short, type, default: fallback }: FlagSpec): string {
  const long = type === "bool" ? `--${name}` : `--${name}=${fallback}`;
  return short === undefined || short === name ? long : `-${short}, ${long}`;
}

function toParagraph(text: string, width: number): string {
  return wrapAfter("", text, { width });
}
