/**
 * Reads the flags of a command that takes none of `run`. Knows no controller and no cloud, so that `landfall version`
 * and `landfall help` load neither.
 * @module
 */
import { ConfigError, type ConfigIssue } from "../../core/errors.ts";
import { HELP_FLAG } from "./common.ts";
import { GivenFlags } from "./given.ts";
import type { FlagSpec } from "./spec.ts";
import { type FlagToken, type FlagTokens, readFlagTokens } from "./tokens.ts";
import { findValueProblem } from "./values.ts";

/** What a command takes beside the flags of `run`. */
export interface CommandInput {
  /** Its own flags. @default {none} */
  readonly flags?: readonly FlagSpec[];
  /** How many arguments may be no flags. @default {0} */
  readonly argsMax?: number;
}

/** Flags and arguments of a command. */
interface OwnFlags {
  readonly given: GivenFlags;
  /** Arguments that are no flags. */
  readonly args: readonly string[];
  readonly isHelpWanted: boolean;
}

/**
 * Reads the flags of a command that takes none of `run`. With `--help` nothing else is reported.
 *
 * @throws {ConfigError} with everything that is wrong
 */
export function parseOwnFlags(
  argv: readonly string[],
  { flags = [], argsMax = 0 }: CommandInput,
): OwnFlags {
  const read = readAll(argv, [...flags, HELP_FLAG], argsMax);
  const isHelpWanted = read.given.bool("help");
  if (!isHelpWanted) throwIssues(read.issues, read.slips, read.refused);
  return { given: read.given, args: read.args, isHelpWanted };
}

/** What {@linkcode readAll} gives. */
interface ReadFlags extends Omit<FlagTokens, "tokens"> {
  readonly given: GivenFlags;
  /** Those with a value that can be used. */
  readonly usable: readonly FlagToken[];
  /** What is wrong with the others. */
  readonly refused: readonly ConfigIssue[];
}

/** Reads the flags of a table, and says what is wrong with each. */
export function readAll(
  argv: readonly string[],
  flags: readonly FlagSpec[],
  argsMax: number,
): ReadFlags {
  const { tokens, ...rest } = readFlagTokens(argv, flags, argsMax);
  const { usable, issues: refused } = sortTokens(tokens);
  return { ...rest, given: new GivenFlags(usable, flags), usable, refused };
}

/** @throws {ConfigError} unless there is no issue */
export function throwIssues(
  unread: readonly ConfigIssue[],
  slips: readonly ConfigIssue[],
  refusals: readonly ConfigIssue[],
): void {
  // Advice on how to write a value that is refused would only lead to the next error.
  const slipped = slips.filter(({ source }) => !refusals.some((one) => one.source === source));
  const issues = [...unread, ...slipped, ...refusals];
  if (issues.length > 0) throw new ConfigError(issues);
}

/** Separates the tokens with usable values from the others, so that one bad value is one issue. */
function sortTokens(tokens: readonly FlagToken[]): { usable: FlagToken[]; issues: ConfigIssue[] } {
  const usable: FlagToken[] = [];
  const issues: ConfigIssue[] = [];
  for (const { spec, value } of tokens) {
    const problem = spec.effect === "removed" ? undefined : findValueProblem(spec, value);
    if (spec.effect === "removed") {
      issues.push({ source: `--${spec.name}`, message: `was removed; ${spec.help}` });
    } else if (problem === undefined) usable.push({ spec, value });
    else issues.push({ source: `--${spec.name}`, message: problem });
  }
  return { usable, issues };
}
