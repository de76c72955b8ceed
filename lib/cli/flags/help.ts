/**
 * The text of `help` and `--help`: the commands, and the flags from their table.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { listControllerNames, OFF_BY_DEFAULT } from "./controllers.ts";
import type { FlagSpec } from "./spec.ts";
import { FLAGS, listFlags } from "./table.ts";

const COMMANDS = `Usage: landfall [command] [flags]

Commands:
  run      keep the Nodes of a cluster in step with their cloud (the default)
  check    say what is wrong with settings, cloud, cluster and rights; writes nothing
  demo     show it all on a simulated cluster and a simulated Xen Orchestra
  version  print the version
  help     print this

Flags of run and check:
`;

/** The commands, then the flags of `run`, then the names that `--controllers` takes. Ends in a newline. */
export function formatHelp(registry: readonly ControllerDefinition[] = CONTROLLERS): string {
  const available = listControllerNames(registry).filter(({ isAvailable }) => isAvailable);
  const names = available
    .map(({ name, isOffByDefault = false }) =>
      isOffByDefault ? `${name} (${OFF_BY_DEFAULT})` : name,
    )
    .join(", ");
  return `${COMMANDS}${formatFlagHelp(listFlags(registry))}\nControllers: ${names}\n`;
}

/** One line for each flag that applies: name, default and help, in columns. Ends in a newline. */
export function formatFlagHelp(flags: readonly FlagSpec[] = FLAGS): string {
  const applied = flags.filter(({ effect }) => effect === "applies");
  const width = Math.max(...applied.map((spec) => formatFlag(spec).length));
  const lines = applied.map((spec) => `  ${formatFlag(spec).padEnd(width)}  ${spec.help}`);
  return `${lines.join("\n")}\n`;
}

function formatFlag({ name, short, type, default: fallback }: FlagSpec): string {
  const long = type === "bool" ? `--${name}` : `--${name}=${fallback}`;
  return short === undefined || short === name ? long : `-${short}, ${long}`;
}
