/**
 * docs/reference/flags.md, from the flag table.
 * @module
 */
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { CHECK_FLAGS } from "../../lib/cli/check/flags.ts";
import {
  type ControllerName,
  listControllerNames,
  OFF_BY_DEFAULT,
} from "../../lib/cli/flags/controllers.ts";
import type { FlagEffect, FlagSpec } from "../../lib/cli/flags/spec.ts";
import { listFlags } from "../../lib/cli/flags/table.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/** Renders the page. */
export function renderFlagsPage(registry: readonly ControllerDefinition[]): string {
  const flags = listFlags(registry);
  const having = (effect: FlagEffect): readonly FlagSpec[] =>
    flags.filter((spec) => spec.effect === effect);
  const without = [...having("inapplicable"), ...having("silent")];
  return `${GENERATED_NOTE}

# Flags

Write a flag as \`--flag=value\` or \`--flag value\`, and a switch as \`--flag\` or \`--flag=false\`. You can write
\`_\` instead of \`-\`. Separate the items of a list by commas. If you repeat a flag, lists grow, and for other
flags the last one counts. Durations are those of Go: \`300ms\`, \`1.5s\`, \`5m0s\`, \`1h30m\`. If a flag is
unknown, a value is wrong, or an argument is no flag, Landfall names all problems and exits with code 2.

${toTable(["flag", "type", "default", "what it does"], having("applies").map(toAppliedRow))}
## Flags of \`landfall check\`

\`check\` takes all flags of \`run\`, so you can check the command line of a controller as it is. It takes these flags
too. It exits with 0 if all is well or there are only warnings, with 1 if something is wrong, and with 2 if a flag is
wrong. It writes nothing, neither to the cluster nor to the cloud.

${toTable(["flag", "type", "default", "what it does"], CHECK_FLAGS.map(toAppliedRow))}
## Controllers

\`--controllers\` takes \`*\` (all), \`name\` (that one) and \`-name\` (not that one). The first item that names a
controller decides. A controller that no item names runs if \`*\` is in the list.

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
