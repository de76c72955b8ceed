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

Every flag can be written as \`--flag=value\` or \`--flag value\`, with \`_\` for \`-\`; a switch as \`--flag\` or
\`--flag=false\`. Lists are separated by commas, and repeats add to them; of other flags the last one counts. Durations
are Go's: \`300ms\`, \`1.5s\`, \`5m0s\`, \`1h30m\`. An unknown flag, a wrong value or an argument that is no flag
ends the program with code 2, after all problems have been named.

${toTable(["flag", "type", "default", "what it does"], having("applies").map(toAppliedRow))}
## Flags of \`landfall check\`

\`check\` takes the flags of \`run\`, so that the command line of a controller can be checked as it is, and one more. It
ends with 0 when all is well or merely odd, with 1 when something is wrong, and with 2 when the flags are. It writes
nothing: neither to the cluster nor to the cloud.

${toTable(["flag", "type", "default", "what it does"], CHECK_FLAGS.map(toAppliedRow))}
## Controllers

\`--controllers\` takes \`*\` (all), \`name\` (that one) and \`-name\` (not that one). The first item that names a
controller decides about it; one that none names runs if \`*\` is in the list.

${toTable(["name", "alias", "in this version"], listControllerNames(registry).map(toControllerRow))}
## Flags without effect

Manifests of other cloud controller managers keep working: these flags are accepted, with one warning line for all that
are given.

${toTable(
  ["flag", "why it has no effect"],
  without.map(({ name, help }) => [toCode(`--${name}`), help]),
)}
## Flags that are gone

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
