/**
 * Flags and names of controllers as JSON Schema, from the tables that the program uses.
 * @module
 */
import { CONTROLLER_NAMES } from "../../lib/cli/flags/controllers.ts";
import { FLAGS } from "../../lib/cli/flags/table.ts";
import type { Schema } from "./chart_value.ts";

/**
 * One argument: an existing flag, in any form that the program takes. Helm shows the rule that failed. A pattern would
 * have nearly 3,000 characters, so the rule that fails is a constant with advice.
 */
export const FLAG: Schema = {
  type: "string",
  if: { pattern: toFlagPattern() },
  else: { const: "a flag of landfall run --help, written as --flag=value" },
};

/** One item of `--controllers`. */
export const CONTROLLER: Schema = { type: "string", pattern: toControllerPattern() };

function toFlagPattern(): string {
  const known = FLAGS.filter(({ effect }) => effect !== "removed");
  const names = known.map(({ name }) => name.replaceAll("-", "[-_]"));
  const letters = known.flatMap(({ short = [] }) => short);
  return `^(--?(${names.join("|")})|-[${letters.join("")}][0-9]*)(=|$)`;
}

function toControllerPattern(): string {
  const names = CONTROLLER_NAMES.flatMap(({ name, aliases }) => [name, ...aliases]);
  return `^(\\*|-?(${names.join("|")}))$`;
}
