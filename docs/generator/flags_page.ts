/**
 * docs/reference/flags.md, from the flag table.
 * @module
 */
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { COMMANDS, type CommandSpec } from "../../lib/cli/commands.ts";
import {
  type ControllerName,
  listControllerNames,
  OFF_BY_DEFAULT,
} from "../../lib/cli/flags/controllers.ts";
import type { FlagEffect, FlagSpec } from "../../lib/cli/flags/spec.ts";
import { listFlags } from "../../lib/cli/flags/table.ts";
import { wrapText } from "../../lib/core/text/wrap.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/** Renders the page. */
export function renderFlagsPage(registry: readonly ControllerDefinition[]): string {
  const flags = listFlags(registry);
  const having = (effect: FlagEffect): readonly FlagSpec[] =>
    flags.filter((spec) => spec.effect === effect);
  const without = [...having("inapplicable"), ...having("silent")];
  return `${GENERATED_NOTE}

# Flags

\`landfall COMMAND --help\` shows the flags of a command. This page has the flags of \`run\` first; \`check\` and
\`nodes\` take them, too.

Write a flag as \`--flag=value\` or \`--flag value\`, and a switch as \`--flag\` or \`--flag=false\`. You can write
\`_\` instead of \`-\`. Separate the items of a list by commas. If you repeat a flag, lists grow, and for other
flags the last one counts. Durations are those of Go: \`300ms\`, \`1.5s\`, \`5m0s\`, \`1h30m\`. If a flag is
unknown, a value is wrong, or an argument is no flag, Landfall names all problems and exits with code 2.

${toTable(["flag", "type", "default", "what it does"], having("applies").map(toAppliedRow))}
${COMMANDS.filter(({ name }) => name !== "run")
  .map(renderCommand)
  .join("")}## Controllers

\`--controllers\` takes \`*\` (those on by default), \`name\` (that one) and \`-name\` (not that one). The first
item that names a controller decides. If no item names it, it runs if \`*\` is in the list and it is on by default.

${toTable(["name", "alias", "in this version"], listControllerNames(registry).map(toControllerRow))}
## Flags without effect

Landfall accepts these flags, so that manifests of other cloud controller managers work. It logs one warning for all of
them.

${toTable(
  ["flag", "why it has no effect"],
  without.map(({ name, help }) => [toCode(`--${name}`), help]),
)}
## Removed flags

${toTable(
  ["flag", "instead"],
  having("removed").map(({ name, help }) => [toCode(`--${name}`), help]),
)}`;
}

function toAppliedRow({ name, short, type, default: fallback, help }: FlagSpec): string[] {
  const shown = short === undefined || short === name ? `--${name}` : `--${name}, -${short}`;
  return [toCode(shown), type, toCode(fallback), help];
}

function toControllerRow(one: ControllerName): string[] {
  const state = one.isOffByDefault === true ? `yes, ${OFF_BY_DEFAULT}` : "yes";
  return [toCode(one.name), one.aliases.map(toCode).join(" "), one.isAvailable ? state : "no"];
}

/** Lines of the page are no longer. */
const WIDTH = 119;

function wrap(text: string): string {
  return wrapText(text, WIDTH).join("\n");
}

function renderCommand({ name, usage, description, flags = [] }: CommandSpec): string {
  const own = flags.map(toAppliedRow);
  const table = toTable(["flag", "type", "default", "what it does"], own);
  const paragraphs = [
    `## \`landfall ${name}\``,
    `\`landfall ${name} ${usage}\``,
    ...description.map(wrap),
    ...(own.length === 0 ? [] : [table.trimEnd()]),
  ];
  return `${paragraphs.join("\n\n")}\n\n`;
}
