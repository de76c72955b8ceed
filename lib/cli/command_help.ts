/**
 * The text of help on one command, from the tables of commands and flags. Pure.
 * @module
 */
import type { ControllerDefinition } from "../controllers/definition.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { wrapAfter } from "../core/text/wrap.ts";
import type { CommandSpec } from "./commands.ts";
import { HELP_FLAG } from "./flags/common.ts";
import { listControllerNames, OFF_BY_DEFAULT } from "./flags/controllers.ts";
import type { FlagGroup, FlagSpec } from "./flags/spec.ts";
import { listFlags } from "./flags/table.ts";
import { formatExamples, toParagraph } from "./help_text.ts";
import { HELP_WIDTH } from "./terminal.ts";

/** Flags that need more characters have their help on the next line. */
const FLAG_WIDTH = 24;

/** For which terminal, and with which controllers. */
interface CommandHelpOptions {
  /** The available controllers. @default {CONTROLLERS} */
  readonly registry?: readonly ControllerDefinition[];
  /** Most characters of a line. @default {80} */
  readonly width?: number;
}

/** Formats help on a command: what it does, examples, its flags. Ends in a newline. */
export function formatCommandHelp(
  spec: CommandSpec,
  { registry = CONTROLLERS, width = HELP_WIDTH }: CommandHelpOptions = {},
): string {
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

/** One entry for each flag: its form and default, and what it does. Ends in a newline. */
function formatFlagHelp(flags: readonly FlagSpec[], width: number = HELP_WIDTH): string {
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
