/**
 * Flags of `landfall check`: those of `run`, and how to show what was found.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { ConfigError, type ConfigIssue } from "../../core/errors.ts";
import type { FlagSpec } from "../flags/spec.ts";
import { listFlags } from "../flags/table.ts";
import { findValueProblem } from "../flags/values.ts";
import { type ParsedFlags, parseFlags } from "../flags/mod.ts";
import { formatFlagHelp } from "../flags/help.ts";

/** How the report is shown. */
export type CheckOutput = "text" | "json";

/** What `landfall check` was asked for. */
export interface CheckFlags extends ParsedFlags {
  readonly output: CheckOutput;
}

/** Flags that `run` does not have. */
export const CHECK_FLAGS: readonly FlagSpec[] = [
  {
    name: "output",
    short: "o",
    type: "string",
    default: "text",
    help: "Form of the report on standard output: text, or json with stable names",
    effect: "applies",
    choices: ["text", "json"],
  },
];

/**
 * Reads the flags.
 *
 * @param argv Arguments after the command
 * @param registry The controllers that there are
 * @throws {ConfigError} with everything that is wrong
 */
export function parseCheckFlags(
  argv: readonly string[],
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): CheckFlags {
  const { value, rest } = takeOutput(argv);
  const issues = CHECK_FLAGS.flatMap((spec): ConfigIssue[] => {
    const problem = findValueProblem(spec, value);
    const source = `--${spec.name}`;
    return problem === undefined ? [] : [{ source, message: `${problem}, found "${value}"` }];
  });
  try {
    const parsed = parseFlags(rest, registry);
    if (issues.length > 0 && !parsed.settings.isHelpWanted) throw new ConfigError(issues);
    return { ...parsed, output: value === "json" ? "json" : "text" };
  } catch (error) {
    if (!(error instanceof ConfigError) || issues.length === 0) throw error;
    throw new ConfigError([...issues, ...error.issues.filter((one) => !issues.includes(one))]);
  }
}

/** The text of `check --help`. Ends in a newline. */
export function formatCheckHelp(registry: readonly ControllerDefinition[] = CONTROLLERS): string {
  const head = `Usage: landfall check [flags]

Says what is wrong with the settings, the cloud, the API server, the rights and the Nodes. Writes nothing.
Ends with 0 when all is well, 1 when something is wrong, 2 when the flags are.

Flags of check:
`;
  return `${head}${formatFlagHelp([...CHECK_FLAGS, ...listFlags(registry)])}`;
}

/** Takes `--output=json`, `--output json` and the short forms out of argv; the last one counts. */
function takeOutput(argv: readonly string[]): { value: string; rest: string[] } {
  let value = "text";
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? "";
    const [, given] = /^(?:--?output|-o)(?:=(.*))?$/s.exec(argument) ?? [];
    if (given === undefined && !/^(--?output|-o)$/.test(argument)) rest.push(argument);
    else {
      value = given ?? argv[at + 1] ?? "";
      at += given === undefined ? 1 : 0;
    }
  }
  return { value, rest };
}
